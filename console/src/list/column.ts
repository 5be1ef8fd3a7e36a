import type { ReactNode } from 'react'

/** A column of a list. */
export type Column<Row> = {
  key: string
  header: string
  /** A CSS grid track: `minmax(0, 2fr)`, `8rem`. */
  width: string
  cell: (row: Row) => ReactNode
  /** Hidden on screens narrower than this. */
  from?: 'sm' | 'md' | 'lg'
  align?: 'end'
  /** The list can be sorted by this column, highest first. */
  sort?: { isSorted: boolean; onSort: () => void }
}
