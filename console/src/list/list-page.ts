import {
  type DefaultError,
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import { isLongList, type ListPage, type Matching, matchingQuery } from '../api/queries.ts'

/** A list that grows as the reader scrolls. */
export type CursorList<Row> = {
  /** Undefined until the first page is there. */
  rows: Row[] | undefined
  error: unknown
  /** How many rows there are, loaded or not. Null if that is not known. */
  matching: Matching | null
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
  const hasMore = query.hasNextPage
  const counted = useQuery(matchingQuery(options.queryKey, hasMore)).data ?? null
  const loaded = pages?.reduce((sum, { data }) => sum + data.length, 0)
  const list: CursorList<Page['data'][number]> = {
    rows: useMemo(() => pages?.flatMap(({ data }) => data as Page['data'][number][]), [pages]),
    error: query.error,
    matching: hasMore || loaded === undefined ? counted : { count: loaded, exact: true },
    hasMore,
    isLoadingMore: query.isFetchingNextPage,
    hasFailedMore: query.isFetchNextPageError,
    loadMore: () => query.fetchNextPage(),
    hasChanged: query.isStale && isLongList({ state: query as never }),
    refresh: () => void queries.resetQueries({ queryKey: options.queryKey }),
  }
  return { ...list, first: pages?.[0] }
}

/** Changes of one filter that follow each other so fast are one. */
const TYPING_MS = 2000

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
  const rows = data?.data.filter(matches)
  return {
    rows,
    error,
    matching: rows === undefined ? null : { count: rows.length, exact: true },
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
  const last = useRef({ name: '', at: 0 })
  /** Each filter is a step that the way back undoes. A value that is still being typed is one step. */
  const isGoingOn = (changes: Partial<Search>) => {
    const { name, at } = last.current
    last.current = { name: Object.keys(changes).join(), at: Date.now() }
    return name === last.current.name && last.current.at - at < TYPING_MS
  }
  const change = (changes: Partial<Search>, options: { replace?: boolean }) =>
    void navigate({ to: '.', search: ((before: object) => ({ ...before, ...changes })) as never, ...options })
  return {
    isFiltered: Object.values(search).some(Boolean),
    filter: (changes: Partial<Search>) => change(changes, { replace: isGoingOn(changes) }),
    clear: () =>
      change(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])) as Partial<Search>, {}),
  }
}
