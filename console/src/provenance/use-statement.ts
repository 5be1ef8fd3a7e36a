import { api } from '../api/client.ts'

const PATHS = {
  change: '/app/api/orgs/{org}/provenance/changes/{id}/statement',
  lineage: '/app/api/orgs/{org}/provenance/deployments/{id}/lineage/statement',
  verification: '/app/api/orgs/{org}/provenance/deployments/{id}/verification',
} as const

export type StatementKind = keyof typeof PATHS

/** A signed statement, with its proof from the transparency log. */
export function useStatement(org: string, kind: StatementKind, id: string) {
  const params = { path: { org, id }, query: { bundle: true } }
  return api.useQuery('get', PATHS[kind], { params })
}
