import { DAY_MS, getUtcDayStart } from '../platform/clock.ts'

/** The days (UTC) of a chart, as the start of the first and of the last one. */
export type TrendDays = { from: Date; to: Date }

/** The last `count` days, with today as the last one. */
export function getLastDays(count: number, now: Date): TrendDays {
  const to = getUtcDayStart(now)
  return { from: new Date(to.getTime() - (count - 1) * DAY_MS), to }
}

/** As many days right before others. */
export function getDaysBefore({ from, to }: TrendDays): TrendDays {
  const last = new Date(from.getTime() - DAY_MS)
  return { from: new Date(last.getTime() - (to.getTime() - from.getTime())), to: last }
}

/** The dates of the days as `YYYY-MM-DD`, oldest first. */
export function listDates({ from, to }: TrendDays): string[] {
  const count = Math.round((to.getTime() - from.getTime()) / DAY_MS) + 1
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(from.getTime() + index * DAY_MS)
    return day.toISOString().slice(0, 10)
  })
}
