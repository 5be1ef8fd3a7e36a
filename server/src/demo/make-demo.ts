import { updateLastUse } from '../access/credential.store.ts'
import { openRunIntake } from '../ci/runs/run-intake.ts'
import { updateConnection } from '../codehosts/connections/connection.store.ts'
import { listNewestSuccesses } from '../deployments/deployment-list.store.ts'
import { findDemoOrganization } from '../organizations/organization.store.ts'
import { countRows } from '../organizations/organization-rows.store.ts'
import { DAY_MS } from '../platform/clock.ts'
import { lockName } from '../platform/db/advisory-lock.ts'
import { toNestedSql } from '../platform/db/transaction.ts'
import { ApiError } from '../platform/http/api-error.ts'
import { SeededRandom } from '../platform/seeded-random.ts'
import { listNewestChanges } from '../provenance/changes/change-list.store.ts'
import { issueChangeStatement } from '../provenance/statements/change-statement.ts'
import { issueLineageStatement } from '../provenance/statements/lineage-statement.ts'
import { issueVerificationStatement } from '../provenance/statements/verification-statement.ts'
import type { Services } from '../services.ts'
import { countIssueDay } from '../trends/counted-days.store.ts'
import { refreshOrganization } from '../trends/refresh-days.job.ts'
import { makeAlertSteps } from './alerts.ts'
import { updatePlannerStatistics } from './analyze.store.ts'
import { type Background, settleWith } from './background.ts'
import { makeChangeSteps, STORY_DAYS } from './changes.ts'
import { ACCOUNT, createDemoOrganization, enrollRealAdmins } from './create-demo-organization.ts'
import { makeNightlySteps } from './nightly-runs.ts'
import { makePipelineSteps } from './pipelines.ts'
import { makeScanSteps } from './scans.ts'
import { makeSettingSteps } from './settings.ts'
import { triageSteps } from './triage.ts'
import { type Demo, PastClock, type Step } from './world/demo.ts'
import { DemoHost } from './world/demo-host.ts'

export type MadeDemo = { created: boolean; id: string; slug: string; name: string; counts: DemoCounts }

type Progress = (done: number, total: number) => void

const SEED = 20_260_301

/**
 * Makes the organization of the example data, unless it exists. Everything is made by the program's
 * own use cases, with a clock that goes through the last three months, and in one transaction:
 * until
 * it is complete, no other process sees it or its jobs.
 */
export async function makeDemo(services: Services, background: Background, progress: Progress): Promise<MadeDemo> {
  const existing = await findDemoOrganization(services.sql)
  if (existing) {
    await enrollRealAdmins(services.sql, existing.id, services.clock.now())
    return describe(services, existing, false)
  }
  const now = services.clock.now()
  return services.sql.begin(async (tx) => {
    await tx.unsafe('set local statement_timeout = 0')
    await lockName(tx, 'example data')
    const sql = toNestedSql(tx)
    const other = await findDemoOrganization(sql)
    if (other) return describe({ sql }, other, false)
    const clock = new PastClock(new Date(now.getTime() - STORY_DAYS * DAY_MS))
    const host = new DemoHost()
    const own: Services = { ...services, sql, clock, codeHosts: new Map([['github', host]]) }
    const demo = await createDemoOrganization({
      services: own,
      clock,
      now,
      host,
      random: new SeededRandom(SEED),
      intake: openRunIntake(sql),
      ...settleWith(own, background),
    })
    await tellAll(demo, progress)
    return describe(own, demo.organization, true)
  })
}

async function describe({ sql }: Pick<Services, 'sql'>, { id, slug, name }: Demo['organization'], created: boolean) {
  const counts: [string, number][] = []
  for (const [what, table] of Object.entries(COUNTED)) counts.push([what, await countRows(sql, table, id)])
  return { created, id, slug, name, counts: Object.fromEntries(counts) as DemoCounts }
}

async function tellAll(demo: Demo, progress: Progress): Promise<void> {
  const parts = [
    makeChangeSteps,
    makeNightlySteps,
    makePipelineSteps,
    makeScanSteps,
    makeAlertSteps,
    triageSteps,
    makeSettingSteps,
    makeChartSteps,
  ]
  const steps = parts.flatMap((part): Step[] => part(demo)).sort((a, b) => a.at.getTime() - b.at.getTime())
  for (const [index, { at, tell }] of steps.entries()) {
    demo.clock.advance(at < demo.now ? at : demo.now)
    await tell(demo)
    if (index % 20 === 0) await demo.settle()
    if (index === Math.floor(steps.length / 12) || index === Math.floor(steps.length / 3))
      await updatePlannerStatistics(demo.services.sql)
    progress(index + 1, steps.length)
  }
  await demo.settle()
  await demo.evaluateAll()
  demo.clock.advance(demo.now)
  for (const [name, at] of [...demo.lastUses]) {
    const { id } = demo.key(name).credential
    await updateLastUse(demo.services.sql, demo.source.org_id, { type: 'api_key', id }, at)
  }
  await sign(demo)
  await countDays(demo)
  await demo.settle()
  await demo.services.sql.begin((tx) =>
    updateConnection(tx, demo.source.connection_id, { status: 'suspended', account: ACCOUNT, repositories: 'all' }),
  )
}

/** What is counted, and in which table. */
const COUNTED = {
  repositories: 'repositories',
  members: 'members',
  runs: 'ci_runs',
  reports: 'ci_reports',
  artifacts: 'ci_artifacts',
  deployments: 'deployments',
  changes: 'changes',
  statements: 'statements',
  uploads: 'security_uploads',
  findings: 'findings',
  issues: 'security_issues',
  alerts: 'security_alerts',
  policies: 'policies',
  gates: 'configured_gates',
  audit_entries: 'audit_entries',
} as const

type DemoCounts = Record<keyof typeof COUNTED, number>

/** Somebody has asked for the statements of the newest changes and deployments. */
export async function sign(demo: Demo): Promise<void> {
  const { services, source } = demo
  const actor = demo.person('cdubois')
  const { org_id } = source
  for (const id of await listNewestChanges(services.sql, org_id, 40))
    await ifAvailable(issueChangeStatement(services, actor, id))
  for (const id of await listNewestSuccesses(services.sql, org_id, { environment: 'production', limit: 12 })) {
    await ifAvailable(issueLineageStatement(services, actor, id))
    await ifAvailable(issueVerificationStatement(services, actor, id))
  }
}

/** A deployment whose path is not complete has no statement. */
async function ifAvailable(statement: Promise<unknown>): Promise<void> {
  await statement.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
  })
}

/** Every evening the open issues are counted, as the job of the worker does. */
function makeChartSteps(demo: Demo): Step[] {
  return Array.from({ length: STORY_DAYS }, (_, index) => ({
    at: new Date(demo.now.getTime() - (STORY_DAYS - index) * DAY_MS + DAY_MS / 2),
    tell: ({ services, source, clock }: Demo) => countIssueDay(services.sql, source.org_id, clock.now()),
  }))
}

/** Counts the days of runs and deployments, so that the charts are complete at once. */
export async function countDays({ services, source }: Demo): Promise<void> {
  await countIssueDay(services.sql, source.org_id, services.clock.now())
  await refreshOrganization(services, source.org_id)
}
