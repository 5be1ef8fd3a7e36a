import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice, text } from '../../list/search-params.ts'

export const MemberSearch = v.object({
  tab: choice(['invitations']),
  search: text(100),
  role: text(50),
  status: choice(['active', 'disabled']),
})

export function organizationQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}', { params: { path: { org } } })
}

/** The members that match the filters. */
export function membersQuery(org: string, filters: Omit<v.InferOutput<typeof MemberSearch>, 'tab'>) {
  return listQuery('/app/api/orgs/{org}/members', { path: { org }, query: { ...filters, limit: 50 } })
}

/** The invitations that nobody has accepted yet. */
export function invitationsQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/invitations', { params: { path: { org } } })
}

/** The built-in roles, then the custom ones by name. */
export function rolesQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/roles', { params: { path: { org } } })
}

export function singleSignOnQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/single-sign-on', { params: { path: { org } } })
}

export function apiKeysQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/api-keys', { params: { path: { org } } })
}

export function oidcTrustsQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/oidc-trusts', { params: { path: { org } } })
}

/** The plan, and what is used of it. */
export function usageQuery(org: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/usage', { params: { path: { org } } })
}
