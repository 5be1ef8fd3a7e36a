import type { Conditions } from './conditions.ts'
import { getGithubHost } from './github-job.ts'
import { isOnThisMachine } from './issuer.ts'
import type { TokenJob, TrustProvider } from './token-job.ts'

/** A name on a code host: `host/owner/name` in lower case, or `host/owner/`; and the id of it. */
export type NamedId = { name: string; id: string }

/** A connected repository of a code host. */
export type KnownRepository = {
  provider: TrustProvider
  host: string
  id: string
  full_name: string
  owner_id: string | null
}

/** What decides which names a trust lets in. */
type Naming = { issuer: string; provider: TrustProvider | null; conditions: Conditions }

/**
 * The providers whose tokens are let in by names, which can change hands, with the claims that are
 * ids. Those of other providers have no names, or have the id of the owner in the issuer.
 */
const ID_CLAIMS: Partial<Record<TrustProvider, { repository: string; owner: string }>> = {
  github: { repository: 'repository_id', owner: 'repository_owner_id' },
  gitlab: { repository: 'project_id', owner: 'namespace_id' },
}
const ID = /^[1-9]\d{0,18}$/

/**
 * The names by which a trust lets a repository in: its own, and that of its owner, because a glob
 * lets in every new repository of whoever has that name. What the conditions state by id has none.
 */
export function listNamedIds({ provider, conditions }: Naming, repository: TokenJob['repository']): NamedId[] {
  const claims = provider === null ? undefined : ID_CLAIMS[provider]
  const name = repository.address?.toLowerCase()
  if (claims === undefined || name === undefined || hasLiteral(conditions, claims.repository)) return []
  const { id, owner_id } = repository
  const hasOwner = owner_id !== null && ID.test(owner_id) && !hasLiteral(conditions, claims.owner)
  const owner = hasOwner ? [{ name: name.slice(0, name.lastIndexOf('/') + 1), id: owner_id }] : []
  return [...owner, { name, id }]
}

function hasLiteral(conditions: Conditions, claim: string): boolean {
  const value = Object.hasOwn(conditions, claim) ? conditions[claim] : undefined
  return value !== undefined && [value].flat().every((text) => !text.includes('*'))
}

/** The same of a connected repository, as tokens of the issuer name it. */
export function listKnownIds(trust: Naming, { host, full_name, ...known }: KnownRepository): NamedId[] {
  if (trust.provider !== known.provider) return []
  const named = getHost(trust)
  if (!isOnThisMachine(trust.issuer) && host.replace(/^api\./, '') !== named) return []
  // The stored owner of others is the connected group, which can be above that of the repository.
  const owner_id = known.provider === 'github' ? known.owner_id : null
  return listNamedIds(trust, { id: known.id, owner_id, host: null, address: `${named}/${full_name}` })
}

function getHost({ issuer, provider }: Naming): string {
  if (provider === 'github') return getGithubHost(issuer)
  return isOnThisMachine(issuer) ? 'gitlab.com' : new URL(issuer).host
}
