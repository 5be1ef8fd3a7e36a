import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice, day, repositoryName, text, toWindow } from '../../list/search-params.ts'
import { isWholeSha } from '../../page/repository.tsx'
import { DEVIATIONS } from './change-words.ts'

export const ChangeSearch = v.object({
  repository: repositoryName(),
  branch: text(255),
  deviation: choice(DEVIATIONS),
  commit: text(64),
  since: day(),
  until: day(),
})
export const LineageSearch = v.object({ repository: repositoryName(), environment: text(255) })

/** The changes that match the filters. */
export function changesQuery(org: string, search: v.InferOutput<typeof ChangeSearch>) {
  const { repository, branch, deviation, commit } = search
  const filters = { repository, branch, deviation, ...(isWholeSha(commit) && { commit }), ...toWindow(search) }
  return listQuery('/app/api/orgs/{org}/changes', { path: { org }, query: { ...filters, limit: 50 } })
}

export function changeQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/changes/{id}', { params: { path: { org, id } } })
}

/** The deployments that succeeded: each has a lineage. */
export function lineagesQuery(org: string, { repository, environment }: v.InferOutput<typeof LineageSearch>) {
  const query = { repository, environment, status: 'success' as const, limit: 50 }
  return listQuery('/app/api/orgs/{org}/deployments', { path: { org }, query })
}

const STATEMENT_PATHS = {
  change: '/app/api/orgs/{org}/provenance/changes/{id}/statement',
  lineage: '/app/api/orgs/{org}/provenance/deployments/{id}/lineage/statement',
  verification: '/app/api/orgs/{org}/provenance/deployments/{id}/verification',
} as const
export type StatementKind = keyof typeof STATEMENT_PATHS

/** A signed statement, with its proof from the transparency log. */
export function statementQuery(org: string, kind: StatementKind, id: string) {
  return api.queryOptions('get', STATEMENT_PATHS[kind], { params: { path: { org, id }, query: { bundle: true } } })
}

export function signingKeysQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/provenance/keys', { params: { path: { org } } })
}
