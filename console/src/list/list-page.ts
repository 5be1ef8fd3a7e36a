import {
  type DefaultError,
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryOptions,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { isLongList, type ListPage } from '../api/queries.ts'

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

type ListOptions<Page> = UseInfiniteQueryOptions<Page, DefaultError, InfiniteData<Page>, QueryKey, string | null>

/** Reads a list page by page: `useCursorList(runsQuery(org, search))`. `first` is its first page. */
export function useCursorList<Page extends ListPage>(options: ListOptions<Page>) {
  const queries = useQueryClient()
  const query = useInfiniteQuery(options)
  const pages = query.data?.pages
  const list: CursorList<Page['data'][number]> = {
    rows: useMemo(() => pages?.flatMap(({ data }) => data as Page['data'][number][]), [pages]),
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    hasFailedMore: query.isFetchNextPageError,
    loadMore: () => query.fetchNextPage(),
    hasChanged: query.isStale && isLongList({ state: query as never }),
    refresh: () => void queries.resetQueries({ queryKey: options.queryKey }),
  }
  return { ...list, first: pages?.[0] }
}

/** No short list has more. */
const ROWS_MAX = 2000

/** Reads the following pages of a short list, such as the artifacts of a run, by itself. */
export function useWholeCursorList<Page extends ListPage>(options: ListOptions<Page>) {
  const list = useCursorList(options)
  const { rows, hasMore, isLoadingMore, hasFailedMore, loadMore } = list
  const count = rows?.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: `loadMore` is another function each time.
  useEffect(() => {
    if (hasMore && !isLoadingMore && !hasFailedMore && count < ROWS_MAX) loadMore()
  }, [hasMore, isLoadingMore, hasFailedMore, count])
  return list
}

type WholeQuery<Row> = { data: { data: Row[] } | undefined; error: unknown; refetch: () => unknown }

/** A list that the API returns at once, with the rows that match the filters. */
export function wholeList<Row>(query: WholeQuery<Row>, matches: (row: Row) => boolean = () => true): CursorList<Row> {
  const { data, error, refetch } = query
  return {
    rows: data?.data.filter(matches),
    error,
    hasMore: false,
    isLoadingMore: false,
    hasFailedMore: false,
    loadMore: () => {},
    hasChanged: false,
    refresh: () => void refetch(),
  }
}

/**
 * The filters of a list, which live in the address. Of the search parameters, those in `search` are
 * filters; others stay when filters change or are cleared.
 */
export function useListPage<Search extends object>(search: Search) {
  const navigate = useNavigate()
  const change = (changes: Partial<Search>, options: { replace?: boolean }) =>
    void navigate({ to: '.', search: ((before: object) => ({ ...before, ...changes })) as never, ...options })
  return {
    isFiltered: Object.values(search).some(Boolean),
    filter: (changes: Partial<Search>) => change(changes, { replace: true }),
    clear: () =>
      change(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])) as Partial<Search>, {}),
  }
}
