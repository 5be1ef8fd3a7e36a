import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useShortcuts } from '../actions/shortcuts.ts'

/** What the API takes at once. Selecting all rows stops there. */
export const SELECTED_MAX = 1000

/** The rows that are selected, by their keys. */
export type RowSelection = {
  ids: ReadonlySet<string>
  toggle: (id: string) => void
  set: (ids: string[]) => void
  clear: () => void
}

export function useRowSelection(): RowSelection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return useMemo(
    () => ({
      ids,
      toggle: (id) => setIds((before) => before.symmetricDifference(new Set([id]))),
      set: (all) => setIds(new Set(all.slice(0, SELECTED_MAX))),
      clear: () => setIds(new Set()),
    }),
    [ids],
  )
}

/** A key that acts on the active row. Undefined if no row is active. */
export type RowAction<Row> = { keys: string; label: string; run: (row: Row | undefined) => void }

type ActiveRowOptions<Row> = {
  rows: Row[]
  rowKey: (row: Row) => string
  /** Where the rows are, each with its `data-index`. */
  body: RefObject<HTMLElement | null>
  scrollTo: (index: number) => void
  actions: RowAction<Row>[]
}

type ActiveRow = { index: number; move: (by: number) => void }

/**
 * The row that keys act on. None (-1) until a key is pressed. It stays the same row when rows come
 * or go above it; when it goes itself, the next row takes its place.
 */
export function useActiveRow<Row>({ rows, rowKey, body, scrollTo, actions }: ActiveRowOptions<Row>): ActiveRow {
  const [active, setActive] = useState<{ key: string; index: number } | null>(null)
  const index = active === null ? -1 : placeOf(rows, active, rowKey)
  const key = rows[index] === undefined ? null : rowKey(rows[index])
  useEffect(() => {
    if (key === null) return
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)
    const focused = document.activeElement
    if (row && (focused === document.body || body.current?.contains(focused))) row.focus({ preventScroll: true })
    setActive((before) => (before && (before.key !== key || before.index !== index) ? { key, index } : before))
  }, [key, index, body])
  const move = (by: number) => {
    const next = Math.min(Math.max(index + by, 0), rows.length - 1)
    const row = rows[next]
    if (row === undefined) return
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    setActive({ key: rowKey(row), index: next })
    scrollTo(next)
  }
  const newestMove = useRef(move)
  newestMove.current = move
  const moveBy = useCallback((by: number) => newestMove.current(by), [])
  useShortcuts('Lists', [
    { keys: 'j', label: 'Next row', run: () => move(1) },
    { keys: 'k', label: 'Previous row', run: () => move(-1) },
    ...actions.map(({ keys, label, run }) => ({
      keys,
      label,
      run: () => run(rows[index]),
    })),
  ])
  return { index, move: moveBy }
}

function placeOf<Row>(rows: Row[], { key, index }: { key: string; index: number }, rowKey: (row: Row) => string) {
  const row = rows[index]
  if (row !== undefined && rowKey(row) === key) return index
  const moved = rows.findIndex((each) => rowKey(each) === key)
  return moved === -1 ? Math.min(index, rows.length - 1) : moved
}
