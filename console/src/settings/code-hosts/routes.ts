import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, text } from '../../list/search-params.ts'
import { settingsRoute } from '../frame/settings-route.ts'
import { DELIVERY_STATUSES } from './delivery.ts'

export const codeHostRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts',
    validateSearch: v.object({ installation: text(20) }),
    component: lazyRouteComponent(() => import('./code-hosts-page.tsx'), 'CodeHostsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts/deliveries',
    validateSearch: v.object({ status: choice(DELIVERY_STATUSES) }),
    component: lazyRouteComponent(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts/deliveries/$id',
    component: lazyRouteComponent(() => import('./delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
