import { useEffect } from 'react'
import type { CursorList } from '../list/cursor-list.ts'

/** No run has more: the lists of a run are short, and are shown as a whole. */
const ROWS_MAX = 2000

/** Reads the following pages of a short list by itself. */
export function useAllPages<Row>(list: CursorList<Row>): CursorList<Row> {
  const { rows, hasMore, isLoadingMore, hasFailedMore, loadMore } = list
  const count = rows?.length ?? 0
  useEffect(() => {
    if (hasMore && !isLoadingMore && !hasFailedMore && count < ROWS_MAX) loadMore()
  }, [hasMore, isLoadingMore, hasFailedMore, loadMore, count])
  return list
}
