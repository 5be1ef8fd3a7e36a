import type { HostRepository } from '../codehosts/host-repository.ts'
import type {
  HostAnnotation,
  HostJob,
  HostPullRequestName,
  HostRun,
  HostRunStatus,
  TriggerKind,
} from '../codehosts/host-run.ts'
import { type Demo, getTimeAfter } from './world/demo.ts'

const WORKFLOWS = {
  ci: { id: '3101', name: 'CI', path: '.github/workflows/ci.yml' },
  deploy: { id: '3102', name: 'Deploy', path: '.github/workflows/deploy.yml' },
  nightly: { id: '3103', name: 'Nightly scan', path: '.github/workflows/nightly.yml' },
} as const

type RunOfStory = {
  repository: HostRepository
  workflow: keyof typeof WORKFLOWS
  kind: TriggerKind
  ref: string
  sha: string
  message: string
  login: string
  start: Date
  pullRequests?: HostPullRequestName[]
}

let lastId = 0

/** Starts a run, which is not stored before it is applied. */
export function startHostRun(demo: Demo, run: RunOfStory): HostRun {
  lastId += 1
  const id = `${7_300_000_000 + lastId}`
  const actor = demo.account(run.login)
  const { repository, sha, message, start } = run
  demo.host.facts.commits.set(sha, {
    sha,
    message,
    author: actor,
    merged_pull_request: run.kind === 'push' || run.kind === 'workflow' ? (run.pullRequests?.[0] ?? null) : null,
    workflow_blob: null,
  })
  return {
    repository,
    id,
    number: lastId,
    attempt: 1,
    workflow: WORKFLOWS[run.workflow],
    status: 'in_progress',
    ref: run.ref,
    head_repository_id: repository.id,
    commit: { sha, message },
    event: { push: 'push', pull_request: 'pull_request', schedule: 'schedule', workflow: 'workflow_run' }[
      run.kind as 'push'
    ],
    kind: run.kind,
    release_name: null,
    actor,
    triggering_actor: actor,
    pull_requests: run.kind === 'pull_request' ? (run.pullRequests ?? []) : [],
    html_url: `${repository.html_url}/actions/runs/${id}`,
    created_at: start,
    started_at: start,
    completed_at: null,
    updated_at: start,
  }
}

/** Applies the end of a run's attempt, with its jobs. Returns the run as it is then. */
export async function completeRun(demo: Demo, run: HostRun, status: HostRunStatus, at: Date): Promise<HostRun> {
  const ended = { ...run, status, completed_at: at, updated_at: at }
  const { facts } = demo.host
  facts.runs.set(`${run.id} ${run.attempt}`, ended)
  facts.jobs.set(
    `${run.id} ${run.attempt}`,
    status === 'success' ? makeJobs(ended, () => 'success') : makeFailedJobs(demo, ended),
  )
  await demo.apply({ kind: 'run', data: ended })
  return ended
}

/** The next attempt of a run, started by hand. */
export function makeNextAttempt(demo: Demo, run: HostRun, login: string, start: Date): HostRun {
  const open = { status: 'in_progress' as const, completed_at: null, updated_at: start, started_at: start }
  return { ...run, ...open, attempt: run.attempt + 1, triggering_actor: demo.account(login) }
}

/** When a run ends that takes about so many minutes. */
export function computeEnd(demo: Demo, start: Date, minutes: number): Date {
  return getTimeAfter(start, minutes * (0.75 + demo.random.next() * 0.6))
}

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

/** The jobs of an attempt that failed in one of them. The host keeps its annotation and log. */
function makeFailedJobs(demo: Demo, run: HostRun): HostJob[] {
  const failure = run.workflow.name === 'CI' ? demo.random.pick(FAILURES) : DEPLOY_FAILURE
  const names = JOBS[run.workflow.name] ?? []
  const failed = names.includes(failure.job) ? failure.job : (names.at(-1) as string)
  const at = names.indexOf(failed)
  const jobs = makeJobs(run, (name) => {
    if (name === failed) return run.status
    return names.indexOf(name) > at ? 'skipped' : 'success'
  })
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
