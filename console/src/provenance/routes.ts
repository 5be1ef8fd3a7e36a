import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, day, repositoryName, text } from '../list/search-params.ts'
import { organizationRoute } from '../shell/organization-route.tsx'
import { DEVIATIONS } from './change-words.ts'

export const provenanceRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance',
    validateSearch: v.object({
      repository: repositoryName(),
      branch: text(255),
      deviation: choice(DEVIATIONS),
      commit: text(64),
      since: day(),
      until: day(),
    }),
    component: lazyRouteComponent(() => import('./changes-page.tsx'), 'ChangesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/changes/$id',
    component: lazyRouteComponent(() => import('./change-page.tsx'), 'ChangePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/lineage',
    validateSearch: v.object({ repository: repositoryName(), environment: text(255) }),
    component: lazyRouteComponent(() => import('./lineages-page.tsx'), 'LineagesPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/lineage/$id',
    component: lazyRouteComponent(() => import('./lineage-page.tsx'), 'LineagePage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'provenance/keys',
    component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
  }),
] as const
