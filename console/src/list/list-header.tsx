import { Checkbox, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowsSort } from '@tabler/icons-react'
import type { Column } from './column.ts'
import classes from './data-list.module.css'
import { type RowSelection, SELECTED_MAX } from './row-selection.ts'

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
        {columns.map(({ key, header, from, align, sort }) => (
          <div
            key={key}
            role="columnheader"
            data-from={from}
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
      aria-label={`Select all loaded ${of}`}
      checked={areAll}
      indeterminate={selection.ids.size > 0 && !areAll}
      onChange={() => selection.set(areAll ? [] : keys)}
    />
  )
}
