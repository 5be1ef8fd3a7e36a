type Day = { deployments: number; failed_deployments: number }

const WEEK = 7

/** The share of failed deployments in the seven days that end with each day. Null without any. */
export function rateByWeek(days: readonly Day[]): (number | null)[] {
  return days.map((_, index) => {
    const week = days.slice(Math.max(0, index - WEEK + 1), index + 1)
    const all = week.reduce((sum, { deployments }) => sum + deployments, 0)
    const failed = week.reduce((sum, { failed_deployments }) => sum + failed_deployments, 0)
    return all === 0 ? null : failed / all
  })
}
