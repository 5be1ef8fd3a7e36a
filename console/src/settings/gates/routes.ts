import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { readAhead } from '../../api/queries.ts'
import { choice, text } from '../../list/search-params.ts'
import { settingsRoute } from '../../shell/parent-routes.tsx'

export function gatesQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates', { params: { path: { org } } })
}

export function gateQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates/{id}', { params: { path: { org, id } } })
}

/** Every version of a gate, newest first. */
export function gateVersionsQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates/{id}/versions', { params: { path: { org, id } } })
}

export const gateRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates',
    validateSearch: v.object({ name: text(200) }),
    loader: (loader) => readAhead(loader, [gatesQuery(loader.params.org)]),
    component: lazyRouteComponent(() => import('./gates-page.tsx'), 'GatesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates/new',
    component: lazyRouteComponent(() => import('../gate/new-gate-page.tsx'), 'NewGatePage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'gates/$id',
    validateSearch: v.object({ tab: choice(['settings', 'versions']) }),
    loader: (loader) => readAhead(loader, [gateQuery(loader.params.org, loader.params.id)]),
    component: lazyRouteComponent(() => import('../gate/gate-page.tsx'), 'GatePage'),
  }),
] as const
