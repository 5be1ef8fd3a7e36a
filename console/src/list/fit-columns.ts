import type { Column } from './data-rows.tsx'

/** The widest column, which has the name, is readable from here on. */
const NAME_PX_MIN = 160
const TEXT_PX_MIN = 88
const GAP_PX = 12
const PADDING_PX = 24
const CHECKBOX_PX = 24
const REM_PX = 16

/** Those that are left out first where a list is too narrow for all. */
const LEFT_OUT = ['lg', 'md', 'sm', 'xs'] as const

type Fitted = Pick<Column<never>, 'width' | 'from'>

/** The columns of a card: narrow screens show rows as cards. */
export function selectForCards<Each extends Fitted>(columns: Each[]): Each[] {
  return columns.filter(({ from = 'xs' }) => from === 'xs')
}

/**
 * The columns that have room in a list of this width in CSS pixels, 0 while it is not known. Columns
 * of `lg` are left out first, from the last one on, then those of `md`, `sm` and `xs`.
 */
export function fitColumns<Each extends Fitted>(columns: Each[], width: number, hasCheckbox: boolean): Each[] {
  const room = width - PADDING_PX - (hasCheckbox ? CHECKBOX_PX + GAP_PX : 0)
  let fitting = columns
  for (const from of LEFT_OUT)
    while (width > 0 && computeNeeded(fitting) > room) {
      const last = fitting.findLast((column) => column.from === from)
      if (last === undefined) break
      fitting = fitting.filter((column) => column !== last)
    }
  return fitting
}

/** The width at which fixed columns have theirs, and texts that share the rest can be read. */
function computeNeeded(columns: Fitted[]): number {
  const shares = columns.flatMap(({ width }) => readShare(width) ?? [])
  const fixed = columns.map(({ width }) => (readShare(width) === null ? Number.parseFloat(width) * REM_PX : 0))
  const all = sum(shares)
  const shared = Math.max((NAME_PX_MIN * all) / Math.max(...shares), (TEXT_PX_MIN * all) / Math.min(...shares))
  return sum(fixed) + (shares.length === 0 ? 0 : shared) + (columns.length - 1) * GAP_PX
}

/** The share of `minmax(…, 2fr)`. Null for a fixed width. */
function readShare(width: string): number | null {
  const share = /, ([\d.]+)fr\)$/.exec(width)?.[1]
  return share === undefined ? null : Number(share)
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
