import { createRoute } from '@tanstack/react-router'
import { readAhead } from '../api/queries.ts'
import { lazyPage } from '../page/lazy-part.tsx'
import { organizationRoute, signedInRoute } from '../shell/parent-routes.tsx'
import { boardQuery, DeploymentSearch, decisionQuery, deploymentQuery, deploymentsQuery } from './facts/queries.ts'

export const deploymentRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'deployments',
    validateSearch: DeploymentSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => {
      const { deps, params } = loader
      readAhead(loader, [deps.view === 'list' ? deploymentsQuery(params.org, deps) : boardQuery(params.org, deps)])
    },
    component: lazyPage(() => import('./overview/deployments-page.tsx'), 'DeploymentsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'deployments/$id',
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [deploymentQuery(org, id), decisionQuery(org, id)])
    },
    component: lazyPage(() => import('./deployment/deployment-page.tsx'), 'DeploymentPage'),
  }),
] as const

/** The address that gates and comments on code hosts link to. It does not name the organization. */
export const deploymentLinkRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'deployments/$id',
  component: lazyPage(() => import('../shell/find-organization.tsx'), 'FindDeployment'),
})
