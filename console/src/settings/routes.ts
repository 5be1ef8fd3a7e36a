import { createRoute, redirect } from '@tanstack/react-router'
import * as v from 'valibot'
import { readAhead } from '../api/queries.ts'
import { choice, text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { pages } from '../page/pages.ts'
import { auditLogRoutes } from './audit-log/routes.ts'
import { codeHostRoutes } from './code-host-routes.ts'
import { CREDENTIAL_STATES } from './frame/credential-state.ts'
import {
  apiKeysQuery,
  invitationsQuery,
  MemberSearch,
  membersQuery,
  oidcTrustsQuery,
  organizationQuery,
  rolesQuery,
  singleSignOnQuery,
  usageQuery,
} from './frame/queries.ts'
import { settingsRoute } from './frame/settings-route.ts'
import { gateRoutes } from './gate-routes.ts'

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
    component: lazyPage(() => import('./general/general-page.tsx'), 'GeneralPage'),
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
    component: lazyPage(() => import('./members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'roles',
    loader: (loader) => readAhead(loader, [rolesQuery(loader.params.org)], { permission: 'manage_members' }),
    component: lazyPage(() => import('./roles/roles-page.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'single-sign-on',
    loader: (loader) => readAhead(loader, [singleSignOnQuery(loader.params.org)], { permission: 'manage_members' }),
    component: lazyPage(() => import('./single-sign-on/single-sign-on-page.tsx'), 'SingleSignOnPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'api-keys',
    validateSearch: v.object({ state: choice(CREDENTIAL_STATES), name: text(100) }),
    loader: (loader) => readAhead(loader, [apiKeysQuery(loader.params.org)], { permission: 'manage_integrations' }),
    component: lazyPage(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'oidc-trusts',
    validateSearch: v.object({ state: choice(CREDENTIAL_STATES) }),
    loader: (loader) => readAhead(loader, [oidcTrustsQuery(loader.params.org)], { permission: 'manage_integrations' }),
    component: lazyPage(() => import('./oidc-trusts/oidc-trusts-page.tsx'), 'OidcTrustsPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'usage',
    loader: (loader) => readAhead(loader, [usageQuery(loader.params.org)]),
    component: lazyPage(() => import('./usage/usage-page.tsx'), 'UsagePage'),
  }),
  ...codeHostRoutes,
  ...gateRoutes,
  ...auditLogRoutes,
] as const

export const settingsRoutes = [settingsRoute.addChildren([...children])] as const
