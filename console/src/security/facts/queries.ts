import type * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { toWindow } from '../../list/search-params.ts'
import {
  type AlertSearch,
  type FindingSearch,
  type IssueSearch,
  type TriageSearch,
  toFindingFilters,
  toIssueFilters,
} from './searches.ts'

const PAGE_SIZE = 100

/** The issues that match the filters. `now` is the time at which the page was opened. */
export function issuesQuery(org: string, search: IssueSearch, now: number) {
  const query = { ...toIssueFilters(search, now), limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/security/issues', { path: { org }, query })
}

/** The sources of vulnerability intelligence, imported or not. */
export function intelQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/security/intel', { params: { path: { org } } })
}

export function issueQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/security/issues/{id}', { params: { path: { org, id } } })
}

/** The findings of an issue. Every part of its page shares one list. */
export function issueFindingsQuery(org: string, issueId: string) {
  const query = { issue_id: issueId, limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/security/findings', { path: { org }, query })
}

/** The findings that match the filters. `now` is the time at which the page was opened. */
export function findingsQuery(org: string, search: FindingSearch, now: number) {
  const query = { ...toFindingFilters(search, now), limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/security/findings', { path: { org }, query })
}

export function findingQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/security/findings/{id}', { params: { path: { org, id } } })
}

/** The alerts that match the filters. */
export function alertsQuery(org: string, search: v.InferOutput<typeof AlertSearch>) {
  const { status, severity } = search
  const query = { status, severity, ...toWindow(search), limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/security/alerts', { path: { org }, query })
}

export function alertQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/security/alerts/{id}', { params: { path: { org, id } } })
}

/** The decisions that match the filters. */
export function triagesQuery(org: string, search: v.InferOutput<typeof TriageSearch>) {
  const { action, source, status } = search
  const query = { action, source, status, ...toWindow(search), limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/security/triage', { path: { org }, query })
}
