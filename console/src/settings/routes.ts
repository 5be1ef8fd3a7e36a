import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import * as v from 'valibot'
import { api } from '../api/client.ts'
import { listQuery, readAhead } from '../api/queries.ts'
import { choice, text } from '../list/search-params.ts'
import { pages } from '../page/pages.ts'
import { settingsRoute } from '../shell/parent-routes.tsx'
import { auditLogRoutes } from './audit-log/routes.ts'
import { codeHostRoutes } from './code-hosts/routes.ts'
import { CREDENTIAL_STATES } from './frame/credential-state.ts'
import { gateRoutes } from './gates/routes.ts'

const MemberSearch = v.object({
  tab: choice(['invitations']),
  search: text(100),
  role: text(50),
  status: choice(['active', 'disabled']),
})

export function organizationQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}', { params: { path: { org } } })
}

/** The members that match the filters. */
export function membersQuery(org: string, filters: Omit<v.InferOutput<typeof MemberSearch>, 'tab'>) {
  return listQuery('/app/api/orgs/{org}/members', { path: { org }, query: { ...filters, limit: 50 } })
}

/** The invitations that nobody has accepted yet. */
export function invitationsQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/invitations', { params: { path: { org } } })
}

/** The built-in roles, then the custom ones by name. */
export function rolesQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/roles', { params: { path: { org } } })
}

export function singleSignOnQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/single-sign-on', { params: { path: { org } } })
}

export function apiKeysQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/api-keys', { params: { path: { org } } })
}

export function oidcTrustsQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/oidc-trusts', { params: { path: { org } } })
}

/** The plan, and what is used of it. */
export function usageQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/usage', { params: { path: { org } } })
}

// Arguments of `addChildren` lose the types of routes that are made in place.
const children = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/',
    beforeLoad: ({ params: { org } }) => {
      throw redirect({ ...pages.general(org), replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'general',
    loader: (loader) => readAhead(loader, [organizationQuery(loader.params.org)]),
    component: lazyRouteComponent(() => import('./general/general-page.tsx'), 'GeneralPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'members',
    validateSearch: MemberSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => {
      const { org } = loader.params
      const { tab, ...filters } = loader.deps
      const list = tab === 'invitations' ? invitationsQuery(org) : membersQuery(org, filters)
      readAhead(loader, [list, rolesQuery(org)], { permission: 'manage_members' })
    },
    component: lazyRouteComponent(() => import('./members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'roles',
    loader: (loader) => readAhead(loader, [rolesQuery(loader.params.org)], { permission: 'manage_members' }),
    component: lazyRouteComponent(() => import('./roles/roles-page.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'single-sign-on',
    loader: (loader) => readAhead(loader, [singleSignOnQuery(loader.params.org)], { permission: 'manage_members' }),
    component: lazyRouteComponent(() => import('./single-sign-on/single-sign-on-page.tsx'), 'SingleSignOnPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'api-keys',
    validateSearch: v.object({ state: choice(CREDENTIAL_STATES), name: text(100) }),
    loader: (loader) => readAhead(loader, [apiKeysQuery(loader.params.org)], { permission: 'manage_integrations' }),
    component: lazyRouteComponent(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'oidc-trusts',
    validateSearch: v.object({ state: choice(CREDENTIAL_STATES) }),
    loader: (loader) => readAhead(loader, [oidcTrustsQuery(loader.params.org)], { permission: 'manage_integrations' }),
    component: lazyRouteComponent(() => import('./oidc-trusts/oidc-trusts-page.tsx'), 'OidcTrustsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'usage',
    loader: (loader) => readAhead(loader, [usageQuery(loader.params.org)]),
    component: lazyRouteComponent(() => import('./usage/usage-page.tsx'), 'UsagePage'),
  }),
  ...codeHostRoutes,
  ...gateRoutes,
  ...auditLogRoutes,
] as const

export const settingsRoutes = [settingsRoute.addChildren([...children])] as const
