import { useMemo, useState } from 'react'

/** The rows that are selected, by their keys. */
export type RowSelection = {
  ids: ReadonlySet<string>
  toggle: (id: string) => void
  set: (ids: string[]) => void
  clear: () => void
}

/** What the API takes at once. Selecting all rows stops there. */
export const SELECTED_MAX = 1000

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
