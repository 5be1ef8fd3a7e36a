import { Checkbox } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import type { Column } from './column.ts'
import classes from './data-list.module.css'
import type { RowSelection } from './row-selection.ts'

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

/** One row. The keys j and k move the focus to rows; Tab goes on to the links and buttons in them. */
export function ListRow<Row>(props: ListRowProps<Row>) {
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
      {columns.map(({ key, cell, from, align, width }) => (
        <div key={key} role="cell" data-from={from} data-align={align} data-wide={width.includes('fr') || undefined}>
          {cell(row)}
        </div>
      ))}
    </div>
  )
}

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
