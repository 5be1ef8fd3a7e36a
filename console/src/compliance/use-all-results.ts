import { useEffect } from 'react'
import { api } from '../api/client.ts'
import { CURSOR_PAGES, type CursorList, useCursorList } from '../list/cursor-list.ts'
import type { ComplianceResult, ResultStatus } from './facts/vocabulary.ts'

const PATH = '/app/api/orgs/{org}/compliance/results'
/** 2,000 results. More are loaded when the reader asks for them. */
const PAGES_MAX = 20

type ResultFilter = { status: ResultStatus | undefined; policy_id: string | undefined }

/** Reads every result, because one repository's results are in no page together. */
export function useAllResults(org: string, filter: ResultFilter): CursorList<ComplianceResult> {
  const init = { params: { path: { org }, query: { ...filter, limit: 100 } } }
  const query = api.useInfiniteQuery('get', PATH, init, CURSOR_PAGES)
  const list = useCursorList(query, ['get', PATH, init])
  const { hasMore, isLoadingMore, hasFailedMore, loadMore } = list
  const pages = query.data?.pages.length ?? 0
  const isWanted = hasMore && !isLoadingMore && pages < PAGES_MAX && !hasFailedMore
  useEffect(() => {
    if (isWanted) loadMore()
  })
  return list
}
