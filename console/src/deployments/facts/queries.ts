import { keepPreviousData } from '@tanstack/react-query'
import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice, day, repositoryName, text, toWindow } from '../../list/search-params.ts'
import { isWholeSha } from '../../page/repository.tsx'
import { ATTENTIONS } from './board.ts'
import { DEPLOYMENT_STATUSES } from './deployment-state.ts'

export const DeploymentSearch = v.object({
  view: choice(['list']),
  show: choice(ATTENTIONS),
  search: text(300),
  status: choice(DEPLOYMENT_STATUSES),
  environment: text(255),
  repository: repositoryName(),
  workflow: text(300),
  workflow_path: text(500),
  commit: text(64),
  since: day(),
  until: day(),
})
export type DeploymentSearch = v.InferOutput<typeof DeploymentSearch>

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
  const commit_sha = isWholeSha(filters.commit) ? filters.commit : undefined
  const query = {
    status,
    environment,
    repository,
    workflow,
    workflow_path,
    commit_sha,
    ...toWindow(filters),
    limit: 50,
  }
  return listQuery('/app/api/orgs/{org}/deployments', { path: { org }, query })
}

export function deploymentQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/deployments/{id}', { params: { path: { org, id } } })
}

/** The gates and policies that decide a deployment. */
export function decisionQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/deployments/{id}/decision', { params: { path: { org, id } } })
}
