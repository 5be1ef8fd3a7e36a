import { createRoute } from '@tanstack/react-router'
import { readAhead } from '../api/queries.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute } from '../shell/parent-routes.tsx'
import { streamsQuery, UploadSearch, uploadQuery, uploadsQuery } from './sending/queries.ts'

export const uploadRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/uploads',
    validateSearch: UploadSearch,
    loaderDeps: ({ search: { status, repository } }) => ({ status, repository }),
    loader: (loader) =>
      readAhead(loader, [uploadsQuery(loader.params.org, loader.deps), streamsQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./uploads/uploads-page.tsx'), 'UploadsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/uploads/$id',
    loader: (loader) => readAhead(loader, [uploadQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./upload/upload-page.tsx'), 'UploadPage'),
  }),
] as const
