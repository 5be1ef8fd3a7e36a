import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import * as v from 'valibot'
import { api } from '../api/client.ts'
import { listQuery, readAhead } from '../api/queries.ts'
import { choice, count, day, repositoryName, text, toWindow } from '../list/search-params.ts'
import { organizationRoute, signedInRoute } from '../shell/parent-routes.tsx'
import { RUN_STATUSES } from './run-status.ts'

const RunSearch = v.object({
  status: choice(RUN_STATUSES),
  repository: repositoryName(),
  branch: text(255),
  since: day(),
  until: day(),
})

/** The runs that match the filters. A branch is one of a repository. */
export function runsQuery(org: string, search: v.InferOutput<typeof RunSearch>) {
  const { status, repository } = search
  const branch = repository ? search.branch : undefined
  const query = { status, repository, branch, ...toWindow(search), limit: 50 }
  return listQuery('/app/api/orgs/{org}/runs', { path: { org }, query })
}

export function runQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/runs/{id}', { params: { path: { org, id } } })
}

/** The reports of every attempt of a run. */
export function reportsQuery(org: string, id: string) {
  return listQuery('/app/api/orgs/{org}/runs/{id}/reports', { path: { org, id }, query: { limit: 100 } })
}

/** The artifacts of every attempt of a run. */
export function artifactsQuery(org: string, id: string) {
  return listQuery('/app/api/orgs/{org}/runs/{id}/artifacts', { path: { org, id }, query: { limit: 100 } })
}

export const runRoutes = [
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'runs',
    validateSearch: RunSearch,
    loaderDeps: ({ search }) => search,
    loader: (loader) => readAhead(loader, [runsQuery(loader.params.org, loader.deps)]),
    component: lazyRouteComponent(() => import('./runs/runs-page.tsx'), 'RunsPage'),
  }),
  createRoute({
    getParentRoute: () => organizationRoute,
    path: 'runs/$id',
    validateSearch: v.object({ attempt: count(), report: text(100) }),
    loader: (loader) => {
      const { org, id } = loader.params
      readAhead(loader, [runQuery(org, id), reportsQuery(org, id), artifactsQuery(org, id)])
    },
    component: lazyRouteComponent(() => import('./run/run-page.tsx'), 'RunPage'),
  }),
] as const

const findRun = lazyRouteComponent(() => import('../shell/find-organization.tsx'), 'FindRun')

/** The addresses that CI jobs print. They do not name the organization. */
export const runLinkRoutes = [
  createRoute({ getParentRoute: () => signedInRoute, path: 'runs/$id', component: findRun }),
  createRoute({ getParentRoute: () => signedInRoute, path: 'runs/$id/reports/$report', component: findRun }),
] as const
