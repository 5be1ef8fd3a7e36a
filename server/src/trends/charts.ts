import type { Static } from 'typebox'
import { RUN_STATUSES } from '../ci/runs/run-status.ts'
import type { DeliveryChart, IssueChart, RunChart } from './chart.schema.ts'
import type { IssueDay, RunDay } from './counted-days.store.ts'
import type { DeliveryDay, EarlierRule } from './delivery.store.ts'

/** Fills the days without runs. `dates` are the days of the chart, oldest first. */
export function toRunChart(
  dates: readonly string[],
  counted: readonly RunDay[],
  before: readonly RunDay[],
): Static<typeof RunChart> {
  const byDate = Map.groupBy(counted, ({ date }) => date)
  const days = dates.map((date) => ({ date, ...computeCounts(byDate.get(date) ?? []) }))
  return { days, ...computeTotal(counted), previous: computeTotal(before) }
}

function computeTotal(counted: readonly RunDay[]): { runs: number; success_rate: number | null } {
  const all = computeCounts(counted)
  const ended = all.success + all.failure + all.timed_out
  return { runs: all.runs, success_rate: ended === 0 ? null : all.success / ended }
}

type RunCounts = Record<RunDay['status'] | 'runs', number>

function computeCounts(counted: readonly RunDay[]): RunCounts {
  const counts = Object.fromEntries(['runs', ...RUN_STATUSES].map((name) => [name, 0])) as RunCounts
  for (const { status, runs } of counted) {
    counts[status] += runs
    counts.runs += runs
  }
  return counts
}

const NOTHING = { deployments: 0, failed_deployments: 0, lead_time_seconds: null, restore_seconds: null }

/** Fills the days without deployments. */
export function toDeliveryChart(
  dates: readonly string[],
  { environments, earlier }: { environments: string[]; earlier: EarlierRule | null },
  { counted, before }: { counted: readonly DeliveryDay[]; before: readonly DeliveryDay[] },
): Static<typeof DeliveryChart> {
  const byDate = new Map(counted.map((day) => [day.date, day]))
  return {
    environments,
    ...(earlier && {
      earlier_rule: { environments: earlier.environments, until: earlier.until.toISOString().slice(0, 10) },
    }),
    days: dates.map((date) => ({ ...NOTHING, ...byDate.get(date), date })),
    ...computeDelivery(counted, dates.length),
    previous: computeDelivery(before, dates.length),
  }
}

/** The figures for the whole time of so many days. */
function computeDelivery(counted: readonly DeliveryDay[], days: number) {
  const { date: _, ...all } = counted.find(({ date }) => date === null) ?? { ...NOTHING, date: null }
  return {
    ...all,
    deployments_per_day: (all.deployments - all.failed_deployments) / days,
    change_failure_rate: all.deployments === 0 ? null : all.failed_deployments / all.deployments,
  }
}

/** Continues the count of the day before on days without one. */
export function toIssueChart(dates: readonly string[], counted: readonly IssueDay[]): Static<typeof IssueChart> {
  let last: IssueDay | undefined
  let next = 0
  const days = dates.map((date) => {
    for (; counted[next] && (counted[next] as IssueDay).date <= date; next += 1) last = counted[next]
    const { critical = 0, high = 0, medium = 0, low = 0, info = 0 } = last ?? {}
    const isOfDay = last?.date === date
    return {
      date,
      open: { critical, high, medium, low, info },
      median_age_seconds: isOfDay ? (last?.median_age_seconds ?? null) : null,
    }
  })
  return { days, counted_at: counted.at(-1)?.counted_at.toISOString() ?? null }
}
