import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, repositoryName, text } from '../list/search-params.ts'
import { organizationRoute } from '../shell/organization-route.tsx'
import { POLICY_MODES, RESULT_STATUSES } from './facts/vocabulary.ts'
import { POLICY_TABS } from './policy/policy-tabs.ts'

export const complianceRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance',
    // Part of a name, which the page looks for itself.
    validateSearch: v.object({ status: choice(RESULT_STATUSES), policy: text(128), repository: text(300) }),
    component: lazyRouteComponent(() => import('./results-page.tsx'), 'ResultsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/results',
    validateSearch: v.object({ policy: text(128), repository: repositoryName() }),
    component: lazyRouteComponent(() => import('./result-page.tsx'), 'ResultPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/policies',
    validateSearch: v.object({ name: text(100), mode: choice(POLICY_MODES), from: choice(['organization', 'file']) }),
    component: lazyRouteComponent(() => import('./policies-page.tsx'), 'PoliciesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/policies/new',
    validateSearch: v.object({ template: text(100) }),
    component: lazyRouteComponent(() => import('./policy/new-policy-page.tsx'), 'NewPolicyPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/policies/$id',
    validateSearch: v.object({
      tab: choice(POLICY_TABS),
      status: choice(RESULT_STATUSES),
      earlier: text(20),
      later: text(20),
    }),
    component: lazyRouteComponent(() => import('./policy/policy-page.tsx'), 'PolicyPage'),
  }),
] as const
