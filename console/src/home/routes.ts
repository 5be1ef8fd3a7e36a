import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { organizationRoute } from '../shell/organization-route.tsx'
import { PERIODS } from './period.ts'

export const homeRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: '/',
    validateSearch: v.object({ days: v.fallback(v.optional(v.picklist(PERIODS)), undefined) }),
    component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
  }),
] as const
