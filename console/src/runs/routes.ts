import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { count, text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute, signedInRoute } from '../shell/parent-routes.tsx'
import { artifactsQuery, RunSearch, reportsQuery, runQuery, runsQuery } from './facts/queries.ts'

export const runRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'runs',
    validateSearch: RunSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [runsQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./runs/runs-page.tsx'), 'RunsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'runs/$id',
    validateSearch: v.object({ attempt: count(), report: text(100), artifact: text(100) }),
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [runQuery(org, id), reportsQuery(org, id), artifactsQuery(org, id)])
    },
    component: lazyPage(() => import('./run/run-page.tsx'), 'RunPage'),
  }),
] as const

const findRun = lazyPage(() => import('../shell/find-organization.tsx'), 'FindRun')

/** The addresses that CI jobs print. They do not name the organization. */
export const runLinkRoutes = [
  createRoute({ getParentRoute: () => signedInRoute, path: 'runs/$id', component: findRun }),
  createRoute({ getParentRoute: () => signedInRoute, path: 'runs/$id/reports/$report', component: findRun }),
] as const
