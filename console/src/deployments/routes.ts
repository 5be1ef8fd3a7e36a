import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { choice, day, repositoryName, text } from '../list/search-params.ts'
import { organizationRoute, signedInRoute } from '../shell/organization-route.tsx'
import { ATTENTIONS } from './board.ts'
import { DEPLOYMENT_STATUSES } from './deployment-status.ts'

export const deploymentRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'deployments',
    validateSearch: v.object({
      view: choice(['list']),
      show: choice(ATTENTIONS),
      search: text(300),
      status: choice(DEPLOYMENT_STATUSES),
      environment: text(255),
      repository: repositoryName(),
      workflow: text(300),
      workflow_path: text(500),
      since: day(),
      until: day(),
    }),
    component: lazyRouteComponent(() => import('./deployments-page.tsx'), 'DeploymentsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'deployments/$id',
    component: lazyRouteComponent(() => import('./deployment-page.tsx'), 'DeploymentPage'),
  }),
] as const

/** The address that gates and comments on code hosts link to. It does not name the organization. */
export const deploymentLinkRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'deployments/$id',
  component: lazyRouteComponent(() => import('./find-deployment.tsx'), 'FindDeployment'),
})
