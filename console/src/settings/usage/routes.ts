import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { settingsRoute } from '../frame/settings-route.ts'

export const usageRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'usage',
    component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
  }),
] as const
