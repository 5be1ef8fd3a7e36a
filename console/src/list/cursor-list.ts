import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'

/** What a cursor query of the API returns, as far as a list needs it. */
type Pages<Row> = { pages: { data: Row[]; next_cursor: string | null }[] }

type CursorQuery<Row> = {
  data: Pages<Row> | undefined
  error: unknown
  isStale: boolean
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage: () => unknown
  refetch: () => unknown
}

/** A list that grows as the reader scrolls. */
export type CursorList<Row> = {
  /** Undefined until the first page is there. */
  rows: Row[] | undefined
  error: unknown
  hasMore: boolean
  isLoadingMore: boolean
  /** The next page could not be read; `loadMore` tries again. */
  hasFailedMore: boolean
  loadMore: () => void
  /** Something has changed since a long list was read; `refresh` reads it from the start. */
  hasChanged: boolean
  refresh: () => void
}

/** Longer lists are not read again by themselves: the list offers it. */
const PAGES_MAX = 2

/** The options of `api.useInfiniteQuery` for every list of the API. */
export const CURSOR_PAGES = {
  initialPageParam: null,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor,
  refetchOnMount: isShort,
  refetchOnWindowFocus: isShort,
  refetchOnReconnect: isShort,
}

function isShort({ state: { data } }: { state: { data?: unknown } }): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) <= PAGES_MAX
}

/** `useCursorList(api.useInfiniteQuery('get', path, { params }, CURSOR_PAGES), ['get', path])`. */
export function useCursorList<Row>(query: CursorQuery<Row>, queryKey: readonly unknown[]): CursorList<Row> {
  const queries = useQueryClient()
  const pages = query.data?.pages
  return {
    rows: useMemo(() => pages?.flatMap(({ data }) => data), [pages]),
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    hasFailedMore: query.isFetchNextPageError,
    loadMore: () => query.fetchNextPage(),
    hasChanged: query.isStale && (pages?.length ?? 0) > PAGES_MAX,
    refresh: () => queries.resetQueries({ queryKey }),
  }
}
