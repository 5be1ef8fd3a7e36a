import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { choice, repositoryName, text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute } from '../shell/parent-routes.tsx'
import { policiesQuery, policyQuery, resultQuery, resultsQuery } from './facts/queries.ts'
import { POLICY_MODES, POLICY_TABS, RESULT_STATUSES } from './facts/vocabulary.ts'

export const complianceRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance',
    // Part of a name, which the page looks for itself.
    validateSearch: v.object({ status: choice(RESULT_STATUSES), policy: text(128), repository: text(300) }),
    loaderDeps: ({ search: { status, policy } }) => ({ status, policy }),
    loader: (loader) => readAhead(loader, [resultsQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./results/results-page.tsx'), 'ResultsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/results',
    validateSearch: v.object({ policy: text(128), repository: repositoryName() }),
    loaderDeps: ({ search }) => search,
    loader: (loader) => {
      const { policy, repository } = loader.deps
      if (policy && repository) readAhead(loader, [resultQuery(loader.params.org, policy, repository)])
    },
    component: lazyPage(() => import('./result/result-page.tsx'), 'ResultPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/policies',
    validateSearch: v.object({ name: text(100), mode: choice(POLICY_MODES), from: choice(['organization', 'file']) }),
    loader: (loader) => readAhead(loader, [policiesQuery(loader.params.org)]),
    component: lazyPage(() => import('./policies/policies-page.tsx'), 'PoliciesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'compliance/policies/new',
    validateSearch: v.object({ template: text(100) }),
    component: lazyPage(() => import('./new-policy/new-policy-page.tsx'), 'NewPolicyPage'),
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
    loader: (loader) => readAhead(loader, [policyQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./policy/policy-page.tsx'), 'PolicyPage'),
  }),
] as const
