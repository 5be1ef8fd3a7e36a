import { api } from '../../api/client.ts'

export function gatesQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates', { params: { path: { org } } })
}

export function gateQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates/{id}', { params: { path: { org, id } } })
}

/** Every version of a gate, newest first. */
export function gateVersionsQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates/{id}/versions', { params: { path: { org, id } } })
}
