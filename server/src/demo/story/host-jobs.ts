import type { HostAnnotation, HostJob, HostRun, HostRunStatus } from '../../codehosts/host-run.ts'
import { type Demo, getTimeAfter } from '../world/demo.ts'

const JOBS: Record<string, readonly string[]> = {
  CI: ['lint', 'build', 'unit-tests', 'integration-tests', 'security-scan', 'package'],
  Deploy: ['development', 'staging', 'smoke-tests', 'production'],
  'Nightly scan': ['dependencies', 'code', 'report'],
}

/** Why a job of the story fails, and what its log says. */
const FAILURES = [
  {
    job: 'unit-tests',
    step: 'Run unit tests',
    annotation: 'AssertionError: expected 1299 to equal 1300',
    path: 'test/totals.test.js',
    log: '✖ totals › rounds half up (12 ms)\n  AssertionError: expected 1299 to equal 1300\n    at test/totals.test.js:48:14\n',
  },
  {
    job: 'integration-tests',
    step: 'Run integration tests',
    annotation: 'Timed out after 30000 ms waiting for the carrier stub',
    path: 'test/integration/carrier.test.js',
    log: 'waiting for carrier-stub:8080 ...\nError: timed out after 30000 ms waiting for the carrier stub\n',
  },
  {
    job: 'build',
    step: 'Build',
    annotation: "Property 'postalCode' does not exist on type 'Address'",
    path: 'src/address.ts',
    log: "src/address.ts(31,18): error TS2339: Property 'postalCode' does not exist on type 'Address'.\n",
  },
  {
    job: 'lint',
    step: 'Lint',
    annotation: "'parcel' is assigned a value but never used",
    path: 'src/label.ts',
    log: "src/label.ts:12:9  error  'parcel' is assigned a value but never used\n",
  },
] as const

const DEPLOY_FAILURE = {
  job: 'production',
  step: 'Wait for the rollout',
  annotation: 'Deployment exceeded its progress deadline: 2 of 6 pods are ready',
  path: 'deploy/production.yaml',
  log: 'Waiting for deployment rollout: 2 of 6 updated replicas are available\nerror: deployment exceeded its progress deadline\n',
} as const

/** The jobs of an attempt that succeeded. */
export function makeSucceededJobs(run: HostRun): HostJob[] {
  return makeJobs(run, () => 'success')
}

/** The jobs of an attempt that failed in one of them. The host keeps its annotation and log. */
export function makeFailedJobs(demo: Demo, run: HostRun): HostJob[] {
  const failure = run.workflow.name === 'CI' ? demo.random.pick(FAILURES) : DEPLOY_FAILURE
  const names = JOBS[run.workflow.name] ?? []
  const failed = names.includes(failure.job) ? failure.job : (names.at(-1) as string)
  const at = names.indexOf(failed)
  const jobs = makeJobs(run, (name) =>
    getStatus(run.status, { isFailed: name === failed, isLater: names.indexOf(name) > at }),
  )
  const job = jobs.find(({ name }) => name === failed) as HostJob
  job.failed_steps = [{ number: 4, name: failure.step }]
  const annotation: HostAnnotation = {
    level: 'error',
    title: null,
    message: failure.annotation,
    path: failure.path,
    line: 48,
  }
  demo.host.facts.annotations.set(job.id, [annotation])
  demo.host.facts.logs.set(job.id, failure.log)
  return jobs
}

function getStatus(run: HostRunStatus, { isFailed, isLater }: { isFailed: boolean; isLater: boolean }): HostRunStatus {
  if (isFailed) return run
  return isLater ? 'skipped' : 'success'
}

function makeJobs(run: HostRun, statusOfJob: (name: string) => HostRunStatus): HostJob[] {
  const names = JOBS[run.workflow.name] ?? ['job']
  const minutes = ((run.completed_at?.getTime() ?? 0) - run.started_at.getTime()) / 60_000 / names.length
  return names.map((name, index) => ({
    repository: run.repository,
    run_id: run.id,
    attempt: run.attempt,
    id: `${run.id}${run.attempt}${index}`,
    name,
    status: statusOfJob(name),
    started_at: getTimeAfter(run.started_at, minutes * index),
    completed_at: getTimeAfter(run.started_at, minutes * (index + 1)),
    html_url: `${run.html_url}/job/${index}`,
    runner: `linux-${(index % 3) + 1}`,
    failed_steps: [],
  }))
}
