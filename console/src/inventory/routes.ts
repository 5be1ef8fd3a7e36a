import { createRoute, redirect } from '@tanstack/react-router'
import { readAhead } from '../api/queries.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { pages } from '../page/pages.ts'
import { lastOrganization } from '../shell/navigation.ts'
import { organizationRoute, signedInRoute } from '../shell/parent-routes.tsx'
import {
  artifactQuery,
  ComponentSearch,
  componentQuery,
  componentsQuery,
  ExposureSearch,
  exposureQuery,
} from './facts/queries.ts'

export const inventoryRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'inventory',
    validateSearch: ComponentSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [componentsQuery(loader.params.org, loader.deps)]),
    component: lazyPage(() => import('./components/components-page.tsx'), 'ComponentsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'inventory/$id',
    loader: (loader) => readAhead(loader, [componentQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./component/component-page.tsx'), 'ComponentPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'vulnerabilities/$id',
    validateSearch: ExposureSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [exposureQuery(org, id, loader.deps.scope)])
    },
    component: lazyPage(() => import('./vulnerability/vulnerability-page.tsx'), 'VulnerabilityPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'digests/$id',
    loader: (loader) => readAhead(loader, [artifactQuery(loader.params.org, loader.params.id)]),
    component: lazyPage(() => import('./artifact/artifact-page.tsx'), 'ArtifactPage'),
  }),
] as const

/** The address of a vulnerability without an organization: the one that was open last answers. */
export const vulnerabilityLinkRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'vulnerabilities/$id',
  beforeLoad: ({ context, params }) => {
    const last = lastOrganization(context.session.organizations)
    throw last
      ? redirect({ ...pages.vulnerability(last.slug, params.id), replace: true })
      : redirect({ to: '/account' })
  },
})
