import { api } from '../api/client.ts'
import { CURSOR_PAGES, useCursorList } from '../list/cursor-list.ts'
import { useAllPages } from './all-pages.ts'

const REPORTS = '/app/api/orgs/{org}/runs/{id}/reports'
const ARTIFACTS = '/app/api/orgs/{org}/runs/{id}/artifacts'

/** The reports of every attempt of a run. */
export function useReports(org: string, id: string) {
  const init = { params: { path: { org, id }, query: { limit: 100 } } }
  return useAllPages(useCursorList(api.useInfiniteQuery('get', REPORTS, init, CURSOR_PAGES), ['get', REPORTS, init]))
}

/** The artifacts of every attempt of a run. */
export function useArtifacts(org: string, id: string) {
  const init = { params: { path: { org, id }, query: { limit: 100 } } }
  return useAllPages(
    useCursorList(api.useInfiniteQuery('get', ARTIFACTS, init, CURSOR_PAGES), ['get', ARTIFACTS, init]),
  )
}
