import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from '@tabler/icons-react'
import { compare } from './compare.ts'

type ComparisonProps = {
  now: number | null
  before: number | null
  days: number
  /** Whether a higher or a lower figure is better. */
  better: 'higher' | 'lower'
  /** The difference of shares is shown in percentage points. */
  isShare?: boolean
}

const ICONS = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconArrowRight }

/** How a figure differs from that of the period before. */
export function Comparison({ now, before, days, better, isShare = false }: ComparisonProps) {
  const compared = compare({ now, before, isShare })
  if (compared === null) return `no figure for the ${days} days before`
  const { direction, text } = compared
  const Icon = ICONS[direction]
  const isBetter = (direction === 'up') === (better === 'higher')
  const color = direction === 'same' ? 'neutral' : isBetter ? 'success' : 'failure'
  return (
    <span style={{ color: `var(--shiplock-${color})`, display: 'inline-flex', alignItems: 'center', gap: 3 }}>
      <Icon size={14} aria-hidden />
      {text} {direction === 'same' ? 'as' : 'than'} in the {days} days before
    </span>
  )
}
