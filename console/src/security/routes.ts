import { createRoute } from '@tanstack/react-router'
import { readAhead } from '../api/queries.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute } from '../shell/parent-routes.tsx'
import {
  alertQuery,
  alertsQuery,
  findingQuery,
  findingsQuery,
  issueFindingsQuery,
  issueQuery,
  issuesQuery,
  triagesQuery,
} from './facts/queries.ts'
import { AlertSearch, FindingSearch, IssueSearch, TriageSearch } from './facts/searches.ts'

export const securityRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/issues',
    validateSearch: IssueSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [issuesQuery(loader.params.org, loader.deps, Date.now())]),
    component: lazyPage(() => import('./issues/issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/issues/$id',
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [issueQuery(org, id), issueFindingsQuery(org, id)])
    },
    component: lazyPage(() => import('./issue/issue-page.tsx'), 'IssuePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/findings',
    validateSearch: FindingSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [findingsQuery(loader.params.org, loader.deps, Date.now())]),
    component: lazyPage(() => import('./findings/findings-page.tsx'), 'FindingsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/findings/$id',
    loader: (loader) => readAhead(loader, [findingQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./finding/finding-page.tsx'), 'FindingPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/alerts',
    validateSearch: AlertSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [alertsQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/alerts/$id',
    loader: (loader) => readAhead(loader, [alertQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./alert/alert-page.tsx'), 'AlertPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/triage',
    validateSearch: TriageSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [triagesQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./triages/triages-page.tsx'), 'TriagesPage'),
  }),
] as const
