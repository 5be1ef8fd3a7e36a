import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, text } from '../../list/search-params.ts'
import { settingsRoute } from '../frame/settings-route.ts'

export const gateRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates',
    validateSearch: v.object({ name: text(200) }),
    component: lazyRouteComponent(() => import('./gates-page.tsx'), 'GatesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates/new',
    component: lazyRouteComponent(() => import('./new-gate-page.tsx'), 'NewGatePage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates/$id',
    validateSearch: v.object({ tab: choice(['settings', 'versions']) }),
    component: lazyRouteComponent(() => import('./gate-page.tsx'), 'GatePage'),
  }),
] as const
