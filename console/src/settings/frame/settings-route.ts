import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organizationRoute } from '../../shell/parent-routes.tsx'

/** The frame of the settings. Every page of the settings is a child of this route. */
export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'settings',
  component: lazyRouteComponent(() => import('./settings-layout.tsx'), 'SettingsLayout'),
})
