import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from '../shell/organization-route.tsx'
import { AlertSearch } from './alerts/alert-search.ts'
import { FindingSearch } from './findings/finding-search.ts'
import { IssueSearch } from './issues/issue-search.ts'
import { TriageSearch } from './triage/triage-search.ts'

export const securityRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/issues',
    validateSearch: IssueSearch,
    component: lazyRouteComponent(() => import('./issues/issues-page.tsx'), 'IssuesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/issues/$id',
    component: lazyRouteComponent(() => import('./issue/issue-page.tsx'), 'IssuePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/findings',
    validateSearch: FindingSearch,
    component: lazyRouteComponent(() => import('./findings/findings-page.tsx'), 'FindingsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/findings/$id',
    component: lazyRouteComponent(() => import('./findings/finding-page.tsx'), 'FindingPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/alerts',
    validateSearch: AlertSearch,
    component: lazyRouteComponent(() => import('./alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/alerts/$id',
    component: lazyRouteComponent(() => import('./alerts/alert-page.tsx'), 'AlertPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/triage',
    validateSearch: TriageSearch,
    component: lazyRouteComponent(() => import('./triage/triages-page.tsx'), 'TriagesPage'),
  }),
] as const
