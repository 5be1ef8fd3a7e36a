import type { CursorList } from './cursor-list.ts'

type WholeQuery<Row> = { data: { data: Row[] } | undefined; error: unknown; refetch: () => unknown }

/** A list that the API returns at once, for `<DataList>`. */
export function wholeList<Row>(
  { data, error, refetch }: WholeQuery<Row>,
  fits: (row: Row) => boolean,
): CursorList<Row> {
  return {
    rows: data?.data.filter(fits),
    error,
    hasMore: false,
    isLoadingMore: false,
    hasFailedMore: false,
    loadMore: () => {},
    hasChanged: false,
    refresh: () => void refetch(),
  }
}
