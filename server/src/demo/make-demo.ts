import { openRunIntake } from '../ci/runs/run-intake.ts'
import { updateConnection } from '../codehosts/connections/connection.store.ts'
import { findDemoOrganization } from '../organizations/organization.store.ts'
import { DAY_MS } from '../platform/clock.ts'
import { lockName } from '../platform/db/advisory-lock.ts'
import { toNestedSql } from '../platform/db/nested-sql.ts'
import { SeededRandom } from '../platform/seeded-random.ts'
import type { Services } from '../services.ts'
import { updatePlannerStatistics } from './analyze.store.ts'
import { type Background, settleWith } from './background.ts'
import { countDemo, type DemoCounts } from './count-demo.ts'
import { ACCOUNT, createDemoOrganization } from './furnish.ts'
import { enrollRealAdmins } from './real-admins.ts'
import { makeAlertSteps } from './story/alerts.ts'
import { makeChangeSteps, STORY_DAYS } from './story/changes.ts'
import { countDays, makeChartSteps } from './story/charts.ts'
import { makeNightlySteps } from './story/nightly-runs.ts'
import { makePipelineSteps } from './story/pipelines.ts'
import { makeScanSteps } from './story/scans.ts'
import { makeSettingSteps } from './story/settings.ts'
import { sign } from './story/statements.ts'
import { triageSteps } from './story/triage.ts'
import type { Demo, Step } from './world/demo.ts'
import { DemoHost } from './world/demo-host.ts'
import { PastClock } from './world/past-clock.ts'

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
  return { created, id, slug, name, counts: await countDemo(sql, id) }
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
  await sign(demo)
  await countDays(demo)
  await demo.settle()
  await demo.services.sql.begin((tx) =>
    updateConnection(tx, demo.source.connection_id, { status: 'suspended', account: ACCOUNT, repositories: 'all' }),
  )
}
