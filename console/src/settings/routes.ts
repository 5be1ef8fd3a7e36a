import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, text } from '../list/search-params.ts'
import { auditLogRoutes } from './audit-log/routes.ts'
import { codeHostRoutes } from './code-hosts/routes.ts'
import { CREDENTIAL_STATES } from './credentials/credential-state.ts'
import { settingsRoute } from './frame/settings-route.ts'
import { gateRoutes } from './gates/routes.ts'
import { usageRoutes } from './usage/routes.ts'

// Arguments of `addChildren` lose the types of routes that are made in place.
const pages = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: '/',
    beforeLoad: ({ params: { org } }) => {
      throw redirect({ to: '/orgs/$org/settings/general', params: { org }, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'general',
    component: lazyRouteComponent(() => import('./general/general-page.tsx'), 'GeneralPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'members',
    validateSearch: v.object({
      tab: choice(['invitations']),
      search: text(100),
      role: text(50),
      status: choice(['active', 'disabled']),
    }),
    component: lazyRouteComponent(() => import('./members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'roles',
    component: lazyRouteComponent(() => import('./roles/roles-page.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'single-sign-on',
    component: lazyRouteComponent(() => import('./single-sign-on/single-sign-on-page.tsx'), 'SingleSignOnPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'api-keys',
    validateSearch: v.object({ state: choice(CREDENTIAL_STATES), name: text(100) }),
    component: lazyRouteComponent(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'oidc-trusts',
    validateSearch: v.object({ state: choice(CREDENTIAL_STATES) }),
    component: lazyRouteComponent(() => import('./oidc-trusts/oidc-trusts-page.tsx'), 'OidcTrustsPage'),
  }),
  ...codeHostRoutes,
  ...gateRoutes,
  ...auditLogRoutes,
  ...usageRoutes,
] as const

export const settingsRoutes = [settingsRoute.addChildren([...pages])] as const
