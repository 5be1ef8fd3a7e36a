import { api, type Schema } from '../../api/client.ts'
import { CURSOR_PAGES, type CursorList, useCursorList } from '../../list/cursor-list.ts'

export type IssueFindingsList = CursorList<Schema<'Finding'>>

const PATH = '/app/api/orgs/{org}/security/findings'

/** The findings of an issue. Every part of its page shares one list. */
export function useIssueFindings(org: string, issueId: string): IssueFindingsList {
  const init = { params: { path: { org }, query: { issue_id: issueId, limit: 100 } } }
  return useCursorList(api.useInfiniteQuery('get', PATH, init, CURSOR_PAGES), ['get', PATH, init])
}
