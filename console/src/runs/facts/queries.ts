import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice, day, repositoryName, text, toWindow } from '../../list/search-params.ts'
import { RUN_STATUSES } from './run-status.ts'

export const RunSearch = v.object({
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

/** The reports of scanners and bills of materials that jobs of a run have sent. */
export function uploadsOfRunQuery(org: string, id: string) {
  return listQuery('/app/api/orgs/{org}/security/uploads', { path: { org }, query: { run_id: id, limit: 100 } })
}
