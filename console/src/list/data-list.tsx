import { Box, Button, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useElementSize, useMediaQuery } from '@mantine/hooks'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, type RefObject, useEffect, useMemo, useRef } from 'react'
import { formatMatching } from '../page/numbers.ts'
import { Problem } from '../page/states.tsx'
import classes from './data-list.module.css'
import type { Column } from './data-rows.tsx'
import { ListHeader, ListRow } from './data-rows.tsx'
import { fitColumns, selectForCards } from './fit-columns.ts'
import type { CursorList } from './list-page.ts'
import type { RowSelection } from './rows.ts'
import { type RowAction, useActiveRow } from './rows.ts'

export type { Column }

type DataListProps<Row> = {
  /** What the rows are, in the plural: "runs". Also the accessible name of the table. */
  of: string
  list: CursorList<Row>
  columns: Column<Row>[]
  rowKey: (row: Row) => string
  /** Opens a row: Enter on the active row. The cell with the name should also be a link. */
  onOpen?: (row: Row) => void
  selection?: RowSelection
  /** Further keys that act on the active row, or on the selection. */
  actions?: RowAction<Row>[]
  /** Shown when there are no rows. */
  empty: ReactNode
}

/** As in data-list.module.css. */
const CARDS = '(max-width: 48em)'
const ROW_HEIGHT = 52
const LOAD_BEFORE_END = 20

/**
 * A table that shows only the rows on the screen, and loads more near its end. Keys: j and k or the
 * arrows move, Enter opens, x selects.
 */
export function DataList<Row>(props: DataListProps<Row>) {
  const { list, of, empty } = props
  if (list.rows === undefined)
    return list.error ? (
      <Problem error={list.error} title={`The ${of} could not be loaded`} retry={list.refresh} />
    ) : (
      <ListSkeleton of={of} />
    )
  if (list.rows.length === 0) return empty
  return <LoadedList {...props} rows={list.rows} />
}

function LoadedList<Row>({ rows, ...props }: DataListProps<Row> & { rows: Row[] }) {
  const { of, list, rowKey, selection, onOpen, actions = [] } = props
  const { ref: table, width } = useElementSize()
  const isCards = useMediaQuery(CARDS)
  const isSelectable = selection !== undefined
  const columns = useMemo(
    () => (isCards ? selectForCards(props.columns) : fitColumns(props.columns, width, isSelectable)),
    [isCards, props.columns, width, isSelectable],
  )
  const body = useRef<HTMLDivElement>(null)
  const onRow = (act: (row: Row) => void) => (row: Row | undefined) => row !== undefined && act(row)
  const { virtual, items } = useGrowingRows({ rows, rowKey, list, body })
  const active = useActiveRow({
    ...{ rows, rowKey, body },
    scrollTo: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
    actions: [
      ...(onOpen ? [{ keys: 'o', label: 'Open row, as Enter does', run: onRow(onOpen) }] : []),
      ...(selection ? [{ keys: 'x', label: 'Select row', run: onRow((row) => selection.toggle(rowKey(row))) }] : []),
      ...actions,
    ],
  })
  const tracks = [...(selection ? ['1.5rem'] : []), ...columns.map(({ width }) => width)].join(' ')
  return (
    <Stack gap="xs">
      {/* There is room for it from the start, so that no row moves when it is known. */}
      <Text size="sm" c="dimmed" role="status" mih={20} className={classes.count}>
        {list.matching && formatMatching(list.matching, of)}
      </Text>
      {list.hasChanged && (
        <div className={classes.changes}>
          <Button size="xs" variant="default" onClick={list.refresh}>
            Show changes
          </Button>
        </div>
      )}
      <div
        ref={table}
        role="table"
        aria-label={of}
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        className={classes.table}
        style={{ '--columns': tracks } as CSSProperties}
      >
        <ListHeader of={of} columns={columns} rows={rows} rowKey={rowKey} selection={selection} />
        <div role="rowgroup" ref={body} className={classes.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <ListRow
              key={key}
              row={rows[index] as Row}
              {...{ index, columns, rowKey, selection, onOpen }}
              isActive={index === active.index}
              onMove={active.move}
              measure={virtual.measureElement}
              top={start - virtual.options.scrollMargin}
            />
          ))}
        </div>
      </div>
      <ListEnd of={of} list={list} />
    </Stack>
  )
}

type GrowingRows<Row> = Pick<DataListProps<Row>, 'rowKey' | 'list'> & {
  rows: Row[]
  body: RefObject<HTMLDivElement | null>
}

/** Renders the rows on the screen, and reads the next page before the reader arrives there. */
function useGrowingRows<Row>({ rows, rowKey, list, body }: GrowingRows<Row>) {
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollMargin: body.current?.offsetTop ?? 0,
    // Rows can go while the list still shows as many as before.
    getItemKey: (index) => (rows[index] === undefined ? index : rowKey(rows[index])),
  })
  const items = virtual.getVirtualItems().filter(({ index }) => index < rows.length)
  const last = items.at(-1)?.index ?? 0
  const { hasMore, isLoadingMore, hasFailedMore, loadMore } = list
  useEffect(() => {
    if (hasMore && !isLoadingMore && !hasFailedMore && last >= rows.length - LOAD_BEFORE_END) loadMore()
  }, [hasMore, isLoadingMore, hasFailedMore, loadMore, last, rows.length])
  return { virtual, items }
}

function ListEnd<Row>({ of, list }: { of: string; list: CursorList<Row> }) {
  if (list.hasFailedMore && !list.isLoadingMore)
    return <Problem error={list.error} title={`More ${of} could not be loaded`} retry={list.loadMore} />
  return (
    <Text size="sm" c="dimmed" ta="center" role="status" mih={20}>
      {list.isLoadingMore && `Loading more ${of}`}
    </Text>
  )
}

function ListSkeleton({ of }: { of: string }) {
  return (
    <Box aria-busy>
      <VisuallyHidden role="status">Loading {of}</VisuallyHidden>
      <Stack gap={1} aria-hidden>
        {Array.from({ length: 12 }, (_, row) => (
          <Skeleton key={row} height={ROW_HEIGHT - 12} my={6} />
        ))}
      </Stack>
    </Box>
  )
}
