import { createRoute } from '@tanstack/react-router'
import { readAhead } from '../../api/queries.ts'
import { lazyPage } from '../../page/lazy-part.tsx'
import { settingsRoute } from '../frame/settings-route.ts'
import { AuditSearch, auditLogQuery } from './queries.ts'

export const auditLogRoutes = [
  createRoute({
    getParentRoute: () => settingsRoute,
    path: 'audit-log',
    validateSearch: AuditSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) =>
      readAhead(loader, [auditLogQuery(loader.params.org, loader.deps)], { permission: 'read_audit_log' }),
    component: lazyPage(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
] as const
