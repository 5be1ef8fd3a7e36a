import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { text } from '../list/search-params.ts'
import { rootRoute } from '../shell/parent-routes.tsx'

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'sign-in',
    validateSearch: v.object({ next: text(2000), error: text(100), reason: text(100), org: text(63) }),
    component: lazyRouteComponent(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'join',
    component: lazyRouteComponent(() => import('./join/join-page.tsx'), 'JoinPage'),
  }),
] as const
