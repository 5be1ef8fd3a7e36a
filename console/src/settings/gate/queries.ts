import { api } from '../../api/client.ts'

export function gatesQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates', { params: { path: { org } } })
}

export function gateQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates/{id}', { params: { path: { org, id } } })
}

/** What is stated about environments, in its order. */
export function environmentsQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/environments', { params: { path: { org } } })
}

/** Every version of a gate, newest first. */
export function gateVersionsQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/gates/{id}/versions', { params: { path: { org, id } } })
}
