import { createRun } from '../ci/runs/create-run.ts'
import { updateRun } from '../ci/runs/update-run.ts'
import { settleWaiting } from '../deployments/decisions/decide-deployment.ts'
import { createExpiredOutcome } from '../deployments/deployment-state.ts'
import { openGate } from '../deployments/gates/open-gate.ts'
import { DAY_MS } from '../platform/clock.ts'
import { answer } from './answers.ts'
import { type ReportedRun, reportPackage, reportTests } from './ci-reports.ts'
import { computeSha } from './commits.ts'
import { AUTHORS, formatFullName, HOST, type PipelineRepository, REPORTED } from './world/company.ts'
import { type Demo, getTimeAfter, type Step } from './world/demo.ts'

type Ending = 'approved' | 'rejected' | 'overridden' | 'expired' | 'failed_tests' | 'waiting' | 'running'

/** The runs that other CI systems report by the API. Each asks our gate before it deploys. */
export function makePipelineSteps(demo: Demo): Step[] {
  return REPORTED.flatMap((repository) => {
    const count = Math.floor(89 / repository.everyDays)
    return Array.from({ length: count }, (_, index) => {
      const days = (count - index) * repository.everyDays - 0.6
      const at = new Date(demo.now.getTime() - days * DAY_MS)
      return runSteps(demo, repository, { index, at, ending: selectEnding(index) })
    }).flat()
  }).concat(presentSteps(demo))
}

function selectEnding(index: number): Ending {
  if (index % 9 === 4) return 'failed_tests'
  if (index % 17 === 8) return 'rejected'
  if (index % 23 === 11) return 'expired'
  return 'approved'
}

/** What is going on now: three deployments wait, and a run is in progress. */
function presentSteps(demo: Demo): Step[] {
  const [pipeline, billing] = REPORTED as unknown as [PipelineRepository, PipelineRepository]
  const ago = (minutes: number) => getTimeAfter(demo.now, -minutes)
  return [
    ...runSteps(demo, billing, { index: 900, at: ago(420), ending: 'waiting' }),
    ...runSteps(demo, pipeline, { index: 901, at: ago(95), ending: 'waiting' }),
    ...runSteps(demo, pipeline, { index: 902, at: ago(31), ending: 'waiting' }),
    ...runSteps(demo, billing, { index: 903, at: ago(6), ending: 'running' }),
  ]
}

type Run = { index: number; at: Date; ending: Ending }

function runSteps(demo: Demo, repository: PipelineRepository, run: Run): Step[] {
  const { index, at, ending } = run
  const tested = getTimeAfter(at, 4 + demo.random.below(4))
  const answered = getTimeAfter(tested, 5 + demo.random.below(90))
  const told: { id?: string; deployment?: string } = {}
  const number = `${1400 + index}`
  const sha = computeSha(`${repository.name} ${index}`)
  const start: Step = {
    at,
    async tell(demo) {
      told.id = await start_(demo, repository, { number, sha })
    },
  }
  if (ending === 'running') return [start]
  const test: Step = {
    at: tested,
    async tell(demo) {
      const isSuccess = ending !== 'failed_tests'
      const reported: ReportedRun = {
        id: told.id as string,
        attempt: 1,
        repository: repository.name,
        sha,
        isSuccess,
        at: tested,
      }
      await reportTests(demo, reported, repository.name === 'data-pipeline' ? 'python' : 'java')
      if (isSuccess) await reportPackage(demo, reported)
      await demo.settle()
      if (!isSuccess) return end(demo, told.id as string, 'failure')
      const environment = index % 3 === (ending === 'waiting' ? 2 : 1) ? 'staging' : 'production'
      const input = { run_id: told.id as string, attempt: 1, environment }
      const { gate } = await openGate(demo.services, demo.key('ci-reports'), input)
      told.deployment = gate.deployment_id
      await demo.settle()
    },
  }
  if (ending === 'waiting' || ending === 'failed_tests') return [start, test]
  const finish: Step = {
    at: ending === 'expired' ? getTimeAfter(tested, 13 * 60) : answered,
    tell: (demo) => finish_(demo, repository, run, told as Required<typeof told>),
  }
  return [start, test, finish]
}

async function start_(demo: Demo, repository: PipelineRepository, { number, sha }: { number: string; sha: string }) {
  const { run } = await createRun(demo.services, demo.intake, demo.key('ci-reports'), {
    ci_system: repository.system,
    ci_system_name: repository.displayName,
    external_run_id: `${repository.name}/${number}`,
    repository: `${HOST}/${formatFullName(repository.name)}`,
    commit_sha: sha,
    ref: 'main',
    pipeline_name: 'release',
    url: `https://ci.northlane.example.com/${repository.name}/${number}`,
    actor: demo.random.pick(AUTHORS),
    event: 'push',
    status: 'in_progress',
    timeout_minutes: 4320,
  })
  return run.id
}

async function end(demo: Demo, id: string, status: 'success' | 'failure' | 'cancelled'): Promise<void> {
  await updateRun(demo.services, demo.key('ci-reports'), id, { status })
  await demo.settle()
}

type Told = { id: string; deployment: string }

async function finish_(demo: Demo, repository: PipelineRepository, run: Run, { id, deployment }: Told): Promise<void> {
  if (run.ending === 'expired') {
    // A deployment that nobody has answered in time ends, as the job of the worker ends it.
    const { services, source } = demo
    await services.sql.begin((tx) =>
      settleWaiting(services, tx, { org_id: source.org_id, id: deployment }, createExpiredOutcome(null)),
    )
    await demo.settle()
    return end(demo, id, 'cancelled')
  }
  const byKey = repository.name === 'data-pipeline' && run.index % 2 === 0
  const by = byKey
    ? ['key:release-bot', 'malvarez']
    : demo.random.next() < 0.5
      ? ['malvarez', 'lbyrne']
      : ['lbyrne', 'malvarez']
  const overriddenBy = run.index % 2 === 0 ? ['sokafor', 'isolberg'] : null
  const isApproved = run.ending === 'approved'
  const goesOn = await answer(demo, { id: deployment, isApproved, by, overriddenBy: byKey ? null : overriddenBy })
  await demo.settle()
  demo.clock.advance(getTimeAfter(demo.clock.now(), 6))
  await end(demo, id, goesOn ? (run.index % 13 === 7 ? 'failure' : 'success') : 'cancelled')
}
