import { formatPercent, LOCALE } from '../../page/numbers.ts'

/** Smaller relative differences say nothing. */
const SAME_BELOW = 0.005

const WEEK = 7

type Figures = { now: number | null; before: number | null; isShare: boolean }

type Compared = { direction: 'up' | 'down' | 'same'; text: string }

/**
 * The difference of two figures: relative, or in percentage points for shares. Null if one of them
 * is missing, or if the earlier one is 0, with which nothing can be compared.
 */
export function compare({ now, before, isShare }: Figures): Compared | null {
  if (now === null || before === null || (before === 0 && !isShare)) return null
  const difference = isShare ? now - before : (now - before) / before
  if (Math.abs(difference) < SAME_BELOW) return { direction: 'same', text: 'The same' }
  const amount = isShare ? `${points(difference)} points` : formatPercent(Math.abs(difference))
  const direction = difference > 0 ? 'up' : 'down'
  return { direction, text: `${amount} ${direction === 'up' ? 'higher' : 'lower'}` }
}

function points(difference: number): string {
  return new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 }).format(Math.abs(difference) * 100)
}

type Day = { deployments: number; failed_deployments: number }

/** The share of failed deployments in the seven days that end with each day. Null without any. */
export function rateByWeek(days: readonly Day[]): (number | null)[] {
  return days.map((_, index) => {
    const week = days.slice(Math.max(0, index - WEEK + 1), index + 1)
    const all = week.reduce((sum, { deployments }) => sum + deployments, 0)
    const failed = week.reduce((sum, { failed_deployments }) => sum + failed_deployments, 0)
    return all === 0 ? null : failed / all
  })
}
