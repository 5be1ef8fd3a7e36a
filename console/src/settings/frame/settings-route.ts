import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../page/lazy-part.tsx'
import { organizationRoute } from '../../shell/parent-routes.tsx'

/** The frame of the settings. Every page of the settings is a child of this route. */
export const settingsRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: 'settings',
  component: lazyPage(() => import('./settings-layout.tsx'), 'SettingsLayout'),
})
