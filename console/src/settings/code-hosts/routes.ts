import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery, readAhead } from '../../api/queries.ts'
import { choice, text } from '../../list/search-params.ts'
import { settingsRoute } from '../../shell/parent-routes.tsx'
import { DELIVERY_STATUSES, isRunning } from './connection.ts'

/** The events of a synchronization tell its end. Its progress is asked for. */
const PROGRESS_MS = 2000
const DeliverySearch = v.object({ status: choice(DELIVERY_STATUSES) })

/** The connections to code hosts. */
export function connectionsQuery(org: string) {
  return api.queryOptions(
    'get',
    '/app/api/orgs/{org}/code-hosts',
    { params: { path: { org } } },
    { refetchInterval: ({ state }) => (state.data?.data.some(isRunning) ? PROGRESS_MS : false) },
  )
}

/** The webhooks that match the filter, newest first. */
export function deliveriesQuery(org: string, search: v.InferOutput<typeof DeliverySearch>) {
  return listQuery('/app/api/orgs/{org}/code-hosts/deliveries', { path: { org }, query: { ...search, limit: 50 } })
}

export function deliveryQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/code-hosts/deliveries/{delivery}', {
    params: { path: { org, delivery: id } },
  })
}

export const codeHostRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts',
    validateSearch: v.object({ installation: text(20) }),
    loader: (loader) => readAhead(loader, [connectionsQuery(loader.params.org)], { permission: 'manage_integrations' }),
    component: lazyRouteComponent(() => import('./code-hosts-page.tsx'), 'CodeHostsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts/deliveries',
    validateSearch: DeliverySearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) =>
      readAhead(loader, [deliveriesQuery(loader.params.org, loader.deps)], { permission: 'manage_integrations' }),
    component: lazyRouteComponent(() => import('../deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'code-hosts/deliveries/$id',
    loader: (loader) =>
      readAhead(loader, [deliveryQuery(loader.params.org, loader.params.id)], { permission: 'manage_integrations' }),
    component: lazyRouteComponent(() => import('../deliveries/delivery-page.tsx'), 'DeliveryPage'),
  }),
] as const
