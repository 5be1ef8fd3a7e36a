import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import type { ResultStatus } from './vocabulary.ts'

type ResultFilters = { status?: ResultStatus | undefined; policy?: string | undefined }

/** The latest results of every policy, or of one. */
export function resultsQuery(org: string, { status, policy }: ResultFilters) {
  const query = { status, policy_id: policy, limit: 100 }
  return listQuery('/app/api/orgs/{org}/compliance/results', { path: { org }, query })
}

/** The result of one policy for one repository. */
export function resultQuery(org: string, policy: string, repository: string) {
  return api.queryOptions(
    'get',
    '/app/api/orgs/{org}/compliance/results',
    { params: { path: { org }, query: { policy_id: policy, repository, limit: 1 } } },
    { enabled: policy !== '' && repository !== '' },
  )
}

export function policiesQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/policies', { params: { path: { org } } })
}

export function policyQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/policies/{id}', { params: { path: { org, id } } })
}
