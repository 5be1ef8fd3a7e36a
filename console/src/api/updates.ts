import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { ClientPathsWithMethod } from 'openapi-fetch'
import { api, type client } from './client.ts'
import { isLongList } from './queries.ts'

/** The parts of paths below the organization that show objects of a type (docs/application-api.md). */
const SHOWN_AT = {
  run: ['/runs', '/charts/runs', '/artifacts'],
  deployment: ['/deployments', '/charts/delivery', '/provenance/deployments', '/exposure', '/artifacts'],
  security_upload: ['/security/uploads', '/components', '/exposure', '/artifacts'],
  finding: ['/security/findings', '/exposure'],
  issue: ['/security/issues', '/charts/issues', '/exposure'],
  alert: ['/security/alerts'],
  triage: ['/security/triage'],
  compliance_result: ['/compliance/results'],
  change: ['/changes', '/provenance/changes'],
  repository: ['/repositories'],
  gate: ['/gates', '/pending-changes'],
  environment: ['/environments', '/charts/delivery', '/exposure'],
  policy: ['/policies', '/pending-changes'],
  api_key: ['/api-keys'],
  oidc_trust: ['/oidc-trusts'],
  code_host: ['/code-hosts'],
  member: ['/members', '/roles'],
  invitation: ['/invitations'],
  role: ['/roles'],
  single_sign_on: ['/single-sign-on'],
  // Only its owner sees it, so that no live update tells of it.
  saved_view: ['/saved-views'],
} as const
/** Everything that is shown of the organization. */
const WHOLE = ['organization', 'resync'] as const
/** What changes who one is. The stream begins anew, with `resync`, when one's permissions change. */
const OF_SESSION = ['organization', 'member', 'role', 'resync', 'account']
const ORGANIZATION = '/app/api/orgs/{org}'
const ACCOUNT = '/app/api/account'
const SESSION = '/app/api/session'

/** What an update is about: a type of objects, as live updates name it, or one's own account. */
export type UpdateType = keyof typeof SHOWN_AT | (typeof WHOLE)[number] | 'account'

/** Long lists show that they have changed, unless they are read again, too. */
type RefreshOptions = { readsLong?: boolean }

/** Reads again what shows objects of these types. */
export async function refresh(queries: QueryClient, types: UpdateType[], { readsLong = false }: RefreshOptions = {}) {
  const isShown = (query: Query) => types.some((type) => showsType(query, type))
  const isLeft = (query: Query) => !readsLong && isLongList(query)
  await Promise.all([
    queries.invalidateQueries({ predicate: (query) => isShown(query) && !isLeft(query) }),
    queries.invalidateQueries({ predicate: (query) => isShown(query) && isLeft(query), refetchType: 'none' }),
  ])
}

function showsType({ queryKey: [, path] }: Query, type: UpdateType): boolean {
  if (typeof path !== 'string') return false
  if (path === SESSION) return OF_SESSION.includes(type)
  if (type === 'account') return isAtOrBelow(path, ACCOUNT)
  if (!path.startsWith(ORGANIZATION)) return false
  if (type === 'organization' || type === 'resync') return true
  const starts: readonly string[] = SHOWN_AT[type] ?? []
  return starts.some((start) => isAtOrBelow(path, ORGANIZATION + start))
}

function isAtOrBelow(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}/`)
}

/** `await refresh('gate')` reads again what shows gates, after something that is no mutation. */
export function useRefresh(): (...types: UpdateType[]) => Promise<void> {
  const queries = useQueryClient()
  return (...types) => refresh(queries, types, { readsLong: true })
}

type Change = 'post' | 'put' | 'patch' | 'delete'

/**
 * An operation of the API that changes objects of some types: what shows them is read again before
 * `mutateAsync` resolves. Its argument is `{ params, body }`.
 */
export function useApiMutation<Method extends Change, Path extends ClientPathsWithMethod<typeof client, Method>>(
  method: Method,
  path: Path,
  changed: UpdateType[],
) {
  const refreshShown = useRefresh()
  // Without a connection it fails at once, and does not wait for one.
  return api.useMutation(method, path, { networkMode: 'always', onSuccess: () => refreshShown(...changed) })
}
