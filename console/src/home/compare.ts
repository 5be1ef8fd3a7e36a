import { LOCALE } from '../page/locale.ts'
import { formatPercent } from '../page/numbers.ts'

type Figures = { now: number | null; before: number | null; isShare: boolean }

export type Compared = { direction: 'up' | 'down' | 'same'; text: string }

/** Smaller relative differences say nothing. */
const SAME_BELOW = 0.005

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
