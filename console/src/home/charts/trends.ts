import { formatPercent, LOCALE } from '../../page/numbers.ts'

/** Smaller relative differences say nothing. */
const SAME_BELOW = 0.005

const WEEK = 7

type Figures = {
  now: number | null
  before: number | null
  /** `share` of `counts`, `rate` that counts `counts`, or a `median` of `counts` values. */
  kind: 'share' | 'rate' | 'median'
  /** How many things each of the two figures is about. */
  counts: readonly [now: number, before: number]
}

/** `isNoise`: chance alone makes such a difference often. */
type Compared = { direction: 'up' | 'down' | 'same'; text: string; isNoise: boolean }

/**
 * The difference of two figures: relative, or in percentage points for shares. Null if one of them
 * is missing, or if the earlier one is 0, with which nothing can be compared.
 */
export function compare({ now, before, kind, counts }: Figures): Compared | null {
  const isShare = kind === 'share'
  if (now === null || before === null || (before === 0 && !isShare)) return null
  const difference = isShare ? now - before : (now - before) / before
  if (Math.abs(difference) < SAME_BELOW) return { direction: 'same', text: 'The same', isNoise: true }
  const amount = isShare ? `${points(difference)} points` : formatPercent(Math.abs(difference))
  const direction = difference > 0 ? 'up' : 'down'
  const isNoise = Math.abs(difference) < 2 * standardError({ now, before, kind, counts: [counts[0], counts[1]] })
  return { direction, text: `${amount} ${direction === 'up' ? 'higher' : 'lower'}`, isNoise }
}

/** A median of so many values varies by about this much, relatively, divided by the root of their number. */
const MEDIAN_SPREAD = 1.25

/** How far the difference is off by chance: of shares, of counts, or of medians. */
function standardError({ now, before, kind, counts: [a, b] }: Figures & { now: number; before: number }): number {
  if (a === 0 || b === 0) return Number.POSITIVE_INFINITY
  if (kind === 'median') return MEDIAN_SPREAD * Math.sqrt(1 / a + 1 / b)
  if (kind === 'rate') return Math.sqrt(a + b) / b
  const share = (now * a + before * b) / (a + b)
  return Math.sqrt(share * (1 - share) * (1 / a + 1 / b))
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
