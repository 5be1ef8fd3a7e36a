import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { signedInRoute } from '../shell/parent-routes.tsx'

export const accountRoutes = [
  createRoute({
    getParentRoute: () => signedInRoute,
    path: 'account',
    validateSearch: v.object({ error: text(100), reason: text(100) }),
    component: lazyPage(() => import('./account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: () => signedInRoute,
    path: 'account/link',
    validateSearch: v.object({ org: text(63), next: text(2000) }),
    component: lazyPage(() => import('./link-page.tsx'), 'LinkPage'),
  }),
] as const
