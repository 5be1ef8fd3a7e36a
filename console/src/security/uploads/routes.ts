import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, repositoryName, text } from '../../list/search-params.ts'
import { PROVIDERS } from '../../page/provider-names.ts'
import { organizationRoute } from '../../shell/organization-route.tsx'
import { FORMATS, UPLOAD_STATUSES } from './upload-words.ts'

export const uploadRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/uploads',
    validateSearch: v.object({
      // The filters of the list.
      status: choice(UPLOAD_STATUSES),
      repository: repositoryName(),
      // What the next reports are about.
      to: text(300),
      host: choice(PROVIDERS),
      ref: text(255),
      commit: text(40),
      format: choice(FORMATS),
      category: text(100),
    }),
    component: lazyRouteComponent(() => import('./uploads-page.tsx'), 'UploadsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'security/uploads/$id',
    component: lazyRouteComponent(() => import('./upload-page.tsx'), 'UploadPage'),
  }),
] as const
