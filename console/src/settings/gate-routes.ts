import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { choice, text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { settingsRoute } from './frame/settings-route.ts'
import { environmentsQuery, gateQuery, gatesQuery } from './gate/queries.ts'

export const gateRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates',
    validateSearch: v.object({ name: text(200) }),
    loader: (loader) => readAhead(loader, [gatesQuery(loader.params.org)]),
    component: lazyPage(() => import('./gates/gates-page.tsx'), 'GatesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates/new',
    component: lazyPage(() => import('./gate/new-gate-page.tsx'), 'NewGatePage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates/$id',
    validateSearch: v.object({ tab: choice(['settings', 'versions']) }),
    loader: (loader) => readAhead(loader, [gateQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./gate/gate-page.tsx'), 'GatePage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'environments',
    loader: (loader) => readAhead(loader, [environmentsQuery(loader.params.org)]),
    component: lazyPage(() => import('./environments/environments-page.tsx'), 'EnvironmentsPage'),
  }),
] as const
