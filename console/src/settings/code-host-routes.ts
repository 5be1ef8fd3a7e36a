import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { connectionsQuery, DeliverySearch, deliveriesQuery, deliveryQuery } from './connect/queries.ts'
import { settingsRoute } from './frame/settings-route.ts'

export const codeHostRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts',
    validateSearch: v.object({ installation: text(20) }),
    loader: (loader) => readAhead(loader, [connectionsQuery(loader.params.org)], { permission: 'manage_integrations' }),
    component: lazyPage(() => import('./code-hosts/code-hosts-page.tsx'), 'CodeHostsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts/deliveries',
    validateSearch: DeliverySearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) =>
      readAhead(loader, [deliveriesQuery(loader.params.org, loader.deps)], { permission: 'manage_integrations' }),
    component: lazyPage(() => import('./deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts/deliveries/$id',
    loader: (loader) =>
      readAhead(loader, [deliveryQuery(loader.params.org, loader.params.id)], { permission: 'manage_integrations' }),
    component: lazyPage(() => import('./deliveries/delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
