import { DAY_MS, getUtcDayStart } from '../platform/clock.ts'
import type { Tx } from '../platform/db/sql.ts'
import { defineJob, defineScheduledJob, enqueue, type ScheduledJob } from '../platform/queue/job.ts'
import { definePayload, text } from '../platform/queue/payload.ts'
import type { Services } from '../services.ts'
import {
  type CountedDays,
  countIssueDay,
  countRunDays,
  listOrganizationsWithIssues,
  listTrendOrganizations,
  type Trend,
  upsertProgress,
} from './counted-days.store.ts'
import { countDeliveryDays } from './delivery.store.ts'

type Counted = {
  /** Later days still change often, so every chart counts them itself. */
  settledAfterMs: number
  count(tx: Tx, days: CountedDays): Promise<void>
}

const TRENDS: Record<Trend, Counted> = {
  // The deadline of a run is three days after its creation at most.
  runs: { settledAfterMs: 4 * DAY_MS, count: countRunDays },
  delivery: { settledAfterMs: 0, count: countDeliveryDays },
}

/** Counts the newest settled days again, whose deployments may have finished since. */
export const refreshNewestDays = refreshDays('trends.refresh-newest-days', '5 * * * *', 3)
/** Counts days again whose runs were started again, or whose deployments were rolled back. */
export const refreshRecentDays = refreshDays('trends.refresh-recent-days', '10 3 * * *', 100)
/** Counts all days again, because code hosts deliver old runs and deployments late. */
export const refreshAllDays = refreshDays('trends.refresh-all-days', '20 3 * * 0', null)

function refreshDays(name: string, schedule: string, days: number | null): ScheduledJob<Services> {
  return defineScheduledJob(name, {
    class: 'bulk',
    schedule,
    async run(services: Services) {
      for (const trend of Object.keys(TRENDS) as Trend[]) await refresh(services, trend, days)
    },
  })
}

/** Counts all days of an organization. */
export async function refreshOrganization(services: Services, orgId: string): Promise<void> {
  for (const trend of Object.keys(TRENDS) as Trend[]) await countSettled(services, trend, { orgId, days: null })
}

/** Organizations that were never counted are counted from the beginning. */
async function refresh(services: Services, trend: Trend, days: number | null): Promise<void> {
  for (const { org_id, is_counted } of await listTrendOrganizations(services.sql, trend))
    await countSettled(services, trend, { orgId: org_id, days: is_counted ? days : null })
}

type Asked = { orgId: string; days: number | null }

async function countSettled({ sql, clock }: Services, trend: Trend, { orgId, days }: Asked): Promise<void> {
  const { settledAfterMs, count } = TRENDS[trend]
  const now = clock.now()
  const until = new Date(getUtcDayStart(now).getTime() - settledAfterMs)
  const from = days === null ? null : new Date(until.getTime() - days * DAY_MS)
  const counted = { org_id: orgId, from, until, now }
  await sql.begin(async (tx) => {
    await upsertProgress(tx, trend, counted)
    await count(tx, counted)
  })
}

type Organization = { org_id: string }

/** Counts the open issues of an organization after they may have changed. */
export const refreshIssueDay = defineJob('trends.refresh-issue-day', {
  class: 'bulk',
  payload: definePayload({ org_id: text }),
  attemptsMax: 5,
  priority: 10,
  once: ({ org_id }) => org_id,
  run: ({ sql, clock }: Services, { org_id }) => countIssueDay(sql, org_id, clock.now()),
})

/** After a report was read, alerts or triage changed. */
export async function refreshIssues({ sql }: Services, { org_id }: Organization): Promise<void> {
  await enqueue(sql, refreshIssueDay, { org_id })
}

/** Every hour, so that each day has a figure and no change is missed for long. */
export const refreshIssueDays = defineScheduledJob<Services>('trends.refresh-issue-days', {
  class: 'bulk',
  schedule: '55 * * * *',
  async run({ sql, clock }) {
    for (const orgId of await listOrganizationsWithIssues(sql)) await countIssueDay(sql, orgId, clock.now())
  },
})
