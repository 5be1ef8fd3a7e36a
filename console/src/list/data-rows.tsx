import { Checkbox, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort } from '@tabler/icons-react'
import { type KeyboardEvent, memo, type ReactNode } from 'react'
import { formatMatching } from '../page/numbers.ts'
import classes from './data-list.module.css'
import { type RowSelection, SELECTED_MAX } from './rows.ts'

/** A column of a list. */
export type Column<Row> = {
  key: string
  header: string
  /** A CSS grid track: `minmax(0, 2fr)`, `8rem`. */
  width: string
  cell: (row: Row) => ReactNode
  /** Left out where the list is too narrow for all columns, `lg` first. Cards have those of `xs`. */
  from?: 'xs' | 'sm' | 'md' | 'lg'
  align?: 'end'
  /** The list can be sorted by this column, highest first. */
  sort?: { isSorted: boolean; onSort: () => void }
}

type ListHeaderProps<Row> = {
  of: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string
  selection: RowSelection | undefined
}

/** The names of the columns. Columns that the API can sort by are buttons. */
export function ListHeader<Row>({ of, columns, rows, rowKey, selection }: ListHeaderProps<Row>) {
  return (
    <div role="rowgroup">
      <div role="row" aria-rowindex={1} className={classes.header}>
        {selection && (
          <div role="columnheader">
            <SelectAll of={of} keys={rows.slice(0, SELECTED_MAX).map(rowKey)} selection={selection} />
          </div>
        )}
        {columns.map(({ key, header, align, sort }) => (
          <div
            key={key}
            role="columnheader"
            data-align={align}
            aria-sort={sort && (sort.isSorted ? 'descending' : 'none')}
          >
            {sort ? <SortButton header={header} {...sort} /> : header}
          </div>
        ))}
      </div>
    </div>
  )
}

function SortButton({ header, isSorted, onSort }: { header: string; isSorted: boolean; onSort: () => void }) {
  const Icon = isSorted ? IconArrowDown : IconArrowsSort
  return (
    <UnstyledButton className={classes.sort} data-sorted={isSorted || undefined} onClick={onSort}>
      {header} <Icon size={13} aria-hidden />
    </UnstyledButton>
  )
}

function SelectAll({ of, keys, selection }: { of: string; keys: string[]; selection: RowSelection }) {
  const areAll = selection.ids.size > 0 && keys.every((key) => selection.ids.has(key))
  return (
    <Checkbox
      size="xs"
      aria-label={`Select the ${formatMatching({ count: keys.length, exact: true }, of)} that ${keys.length === 1 ? 'is' : 'are'} loaded`}
      checked={areAll}
      indeterminate={selection.ids.size > 0 && !areAll}
      onChange={() => selection.set(areAll ? [] : keys)}
    />
  )
}

type ListRowProps<Row> = {
  row: Row
  index: number
  columns: Column<Row>[]
  rowKey: (row: Row) => string
  selection: RowSelection | undefined
  onOpen: ((row: Row) => void) | undefined
  isActive: boolean
  onMove: (by: number) => void
  measure: (element: HTMLElement | null) => void
  top: number
}

/**
 * One row. The keys j and k move the focus to rows; Tab goes on to the links and buttons in them. Only
 * the row that was active and the one that is are drawn again.
 */
export const ListRow = memo(function ListRow<Row>(props: ListRowProps<Row>) {
  const { row, index, columns, rowKey, selection, isActive, measure, top } = props
  const id = rowKey(row)
  return (
    <div
      ref={measure}
      data-index={index}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={selection ? selection.ids.has(id) : undefined}
      data-active={isActive || undefined}
      className={classes.row}
      style={{ transform: `translateY(${top}px)` }}
      onKeyDown={(event) => onRowKey(event, props)}
    >
      {selection && (
        <div role="cell" className={classes.check}>
          <Checkbox
            size="xs"
            aria-label={`Select row ${index + 1}`}
            checked={selection.ids.has(id)}
            onChange={() => selection.toggle(id)}
          />
        </div>
      )}
      {columns.map(({ key, cell, align, width }) => (
        <div key={key} role="cell" data-align={align} data-wide={width.includes('fr') || undefined}>
          {cell(row)}
        </div>
      ))}
    </div>
  )
}) as <Row>(props: ListRowProps<Row>) => ReactNode

/** Keys of the row itself, not of a link or button in it. */
function onRowKey<Row>(event: KeyboardEvent, { row, onOpen, onMove }: ListRowProps<Row>): void {
  if (event.target !== event.currentTarget) return
  const act = {
    Enter: () => onOpen?.(row),
    ArrowDown: () => onMove(1),
    ArrowUp: () => onMove(-1),
  }[event.key]
  if (act === undefined) return
  event.preventDefault()
  act()
}
