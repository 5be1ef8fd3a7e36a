import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type * as v from 'valibot'
import { api } from '../api/client.ts'
import { listQuery, readAhead } from '../api/queries.ts'
import { toWindow } from '../list/search-params.ts'
import { organizationRoute } from '../shell/parent-routes.tsx'
import { AlertSearch, FindingSearch, IssueSearch, TriageSearch, toFindingFilters, toIssueFilters } from './searches.ts'

const PAGE_SIZE = 100

/** The issues that match the filters. `now` is the time at which the page was opened. */
export function issuesQuery(org: string, search: IssueSearch, now: number) {
  const query = { ...toIssueFilters(search, now), limit: PAGE_SIZE }
  return listQuery('/app/api/orgs/{org}/security/issues', { path: { org }, query })
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

export const securityRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/issues',
    validateSearch: IssueSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [issuesQuery(loader.params.org, loader.deps, Date.now())]),
    component: lazyRouteComponent(() => import('./issues/issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/issues/$id',
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [issueQuery(org, id), issueFindingsQuery(org, id)])
    },
    component: lazyRouteComponent(() => import('./issue/issue-page.tsx'), 'IssuePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/findings',
    validateSearch: FindingSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [findingsQuery(loader.params.org, loader.deps, Date.now())]),
    component: lazyRouteComponent(() => import('./findings/findings-page.tsx'), 'FindingsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/findings/$id',
    loader: (loader) => readAhead(loader, [findingQuery(loader.params.org, loader.params.id)]),
    component: lazyRouteComponent(() => import('./finding/finding-page.tsx'), 'FindingPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/alerts',
    validateSearch: AlertSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [alertsQuery(loader.params.org, loader.deps)]),
    component: lazyRouteComponent(() => import('./alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/alerts/$id',
    loader: (loader) => readAhead(loader, [alertQuery(loader.params.org, loader.params.id)]),
    component: lazyRouteComponent(() => import('./alert/alert-page.tsx'), 'AlertPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/triage',
    validateSearch: TriageSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [triagesQuery(loader.params.org, loader.deps)]),
    component: lazyRouteComponent(() => import('./triages/triages-page.tsx'), 'TriagesPage'),
  }),
] as const
