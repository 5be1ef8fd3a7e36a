import { keepPreviousData } from '@tanstack/react-query'
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { api } from '../api/client.ts'
import { listQuery, readAhead } from '../api/queries.ts'
import { choice, day, repositoryName, text, toWindow } from '../list/search-params.ts'
import { organizationRoute, signedInRoute } from '../shell/parent-routes.tsx'
import { DEPLOYMENT_STATUSES } from './deployment-state.ts'
import { ATTENTIONS } from './overview/board.ts'

const DeploymentSearch = v.object({
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
})
type DeploymentSearch = v.InferOutput<typeof DeploymentSearch>

/** What runs where, in the repositories whose name contains the text. */
export function boardQuery(org: string, { search }: Pick<DeploymentSearch, 'search'>) {
  return api.queryOptions(
    'get',
    '/app/api/orgs/{org}/deployments/board',
    { params: { path: { org }, query: { search } } },
    { placeholderData: keepPreviousData },
  )
}

/** The deployments that match the filters of the list. */
export function deploymentsQuery(org: string, filters: Omit<DeploymentSearch, 'view' | 'show' | 'search'>) {
  const { status, environment, repository, workflow, workflow_path } = filters
  const query = { status, environment, repository, workflow, workflow_path, ...toWindow(filters), limit: 50 }
  return listQuery('/app/api/orgs/{org}/deployments', { path: { org }, query })
}

export function deploymentQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/deployments/{id}', { params: { path: { org, id } } })
}

/** The gates and policies that decide a deployment. */
export function decisionQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/deployments/{id}/decision', { params: { path: { org, id } } })
}

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
    component: lazyRouteComponent(() => import('./overview/deployments-page.tsx'), 'DeploymentsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'deployments/$id',
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [deploymentQuery(org, id), decisionQuery(org, id)])
    },
    component: lazyRouteComponent(() => import('./deployment/deployment-page.tsx'), 'DeploymentPage'),
  }),
] as const

/** The address that gates and comments on code hosts link to. It does not name the organization. */
export const deploymentLinkRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: 'deployments/$id',
  component: lazyRouteComponent(() => import('../shell/find-organization.tsx'), 'FindDeployment'),
})
