import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, count, day, repositoryName, text } from '../list/search-params.ts'
import { organizationRoute, signedInRoute } from '../shell/organization-route.tsx'
import { RUN_STATUSES } from './run-status.ts'

export const runRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'runs',
    validateSearch: v.object({
      status: choice(RUN_STATUSES),
      repository: repositoryName(),
      branch: text(255),
      since: day(),
      until: day(),
    }),
    component: lazyRouteComponent(() => import('./runs-page.tsx'), 'RunsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'runs/$id',
    validateSearch: v.object({ attempt: count(), report: text(100) }),
    component: lazyRouteComponent(() => import('./run-page.tsx'), 'RunPage'),
  }),
] as const

const findRun = lazyRouteComponent(() => import('./find-run.tsx'), 'FindRun')

/** The addresses that CI jobs print. They do not name the organization. */
export const runLinkRoutes = [
  createRoute({ getParentRoute: () => signedInRoute, path: 'runs/$id', component: findRun }),
  createRoute({ getParentRoute: () => signedInRoute, path: 'runs/$id/reports/$report', component: findRun }),
] as const
