import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

/** The parts of paths below the organization that show objects of a type (docs/application-api.md). */
const PATHS_OF_TYPES: Record<string, string[]> = {
  run: ['/runs', '/charts/runs'],
  deployment: ['/deployments', '/charts/delivery', '/provenance/deployments'],
  security_upload: ['/security/uploads'],
  finding: ['/security/findings'],
  issue: ['/security/issues', '/charts/issues'],
  alert: ['/security/alerts'],
  triage: ['/security/triage'],
  compliance_result: ['/compliance/results'],
  change: ['/changes', '/provenance/changes'],
  repository: ['/repositories'],
  gate: ['/gates'],
  policy: ['/policies'],
  api_key: ['/api-keys'],
  oidc_trust: ['/oidc-trusts'],
  code_host: ['/code-hosts'],
  member: ['/members', '/roles'],
  invitation: ['/invitations'],
  role: ['/roles'],
  single_sign_on: ['/single-sign-on'],
}
/** What changes who one is. The stream begins anew, with `resync`, when one's permissions change. */
const TYPES_OF_SESSION = ['organization', 'member', 'role', 'resync']
const ORGANIZATION = '/app/api/orgs/{org}'
/** Changes of this time are one refresh. */
const COLLECT_MS = 400
/** Longer lists are not read again by themselves: the list offers it. */
const PAGES_MAX = 2

type Change = { type: string; id: string | null }

/** Reads again what others have changed, while the screens of an organization are open. */
export function useLiveUpdates(org: string): void {
  const queries = useQueryClient()
  useEffect(() => listen(org, refreshTogether(queries)), [org, queries])
}

/**
 * One tab holds the stream, and tells the other tabs of this browser: browsers allow six connections
 * to a server over HTTP/1.1, for all tabs together. Returns how to stop.
 */
function listen(org: string, onChange: (change: Change) => void): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(`shiplock-events-${org}`)
  channel.onmessage = ({ data }) => onChange(data)
  const tell = (change: Change) => {
    onChange(change)
    channel.postMessage(change)
  }
  navigator.locks
    .request(`shiplock-events-${org}`, { signal: stop.signal }, () => holdStream(org, tell, stop.signal))
    .catch(() => {})
  stop.signal.addEventListener('abort', () => channel.close())
  return () => stop.abort()
}

function holdStream(org: string, tell: (change: Change) => void, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const events = new EventSource(`/app/api/orgs/${org}/events`)
    events.onmessage = ({ data }) => tell(JSON.parse(data))
    events.addEventListener('resync', () => tell({ type: 'resync', id: null }))
    // A stream that ended before its first event begins anew without `resync`.
    let isFirst = true
    events.onopen = () => {
      if (!isFirst) tell({ type: 'resync', id: null })
      isFirst = false
    }
    stop.addEventListener('abort', () => {
      events.close()
      resolve()
    })
  })
}

function refreshTogether(queries: QueryClient): (change: Change) => void {
  const types = new Set<string>()
  return ({ type }) => {
    if (types.size === 0)
      setTimeout(() => {
        refresh(queries, [...types])
        types.clear()
      }, COLLECT_MS)
    types.add(type)
  }
}

/** Reads again what shows objects of these types. */
export function refresh(queries: QueryClient, types: string[]): void {
  if (types.some((type) => TYPES_OF_SESSION.includes(type))) {
    queries.invalidateQueries({ queryKey: ['get', '/app/api/session'] })
  }
  const shows = (query: Query) => types.some((type) => showsType(query, type))
  queries.invalidateQueries({ predicate: (query) => shows(query) && !isLong(query) })
  queries.invalidateQueries({ predicate: (query) => shows(query) && isLong(query), refetchType: 'none' })
}

function showsType({ queryKey: [, path] }: Query, type: string): boolean {
  if (typeof path !== 'string' || !path.startsWith(ORGANIZATION)) return false
  if (type === 'resync' || type === 'organization') return true
  const below = path.slice(ORGANIZATION.length)
  return (PATHS_OF_TYPES[type] ?? []).some((start) => below === start || below.startsWith(`${start}/`))
}

function isLong({ state: { data } }: Query): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > PAGES_MAX
}
