import { createRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { text } from '../list/search-params.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { rootRoute } from '../shell/parent-routes.tsx'

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'sign-in',
    validateSearch: v.object({ next: text(2000), error: text(100), reason: text(100), org: text(63) }),
    component: lazyPage(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'join',
    component: lazyPage(() => import('./join/join-page.tsx'), 'JoinPage'),
  }),
] as const
