import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, text } from '../../list/search-params.ts'
import { settingsRoute } from '../frame/settings-route.ts'
import { OBJECT_TYPES, PRINCIPAL_TYPES } from './audit-vocabulary.ts'

export const auditLogRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'audit-log',
    validateSearch: v.object({
      principal_type: choice(PRINCIPAL_TYPES),
      principal_id: text(200),
      action: text(100),
      object_type: choice(OBJECT_TYPES),
      object_id: text(200),
      since: day(),
      until: day(),
    }),
    component: lazyRouteComponent(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
] as const

/** A day in the reader's zone, such as 2026-01-31. */
function day() {
  const isDay = (value: string) => !Number.isNaN(new Date(`${value}T00:00`).getTime())
  return v.fallback(v.optional(v.pipe(v.string(), v.isoDate(), v.check(isDay))), undefined)
}
