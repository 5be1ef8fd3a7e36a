import type { TokenJob } from '../../access/oidc-trusts/token-job.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findFollowed } from '../../repositories/followed-repository.store.ts'
import { getDefaultHost } from '../../repositories/repository-identity.ts'

/**
 * Whether an address or a name is that of a token's repository: as its claims name it, or as the
 * organization knows its id, because a repository can be renamed. `unknown` if neither has a name.
 */
export async function matchTokenRepository(
  db: Db,
  orgId: string,
  job: TokenJob,
  isNamed: (address: string) => boolean,
): Promise<'same' | 'other' | 'unknown'> {
  const { address } = job.repository
  if (address !== null && isNamed(address)) return 'same'
  const known = await findKnownAddress(db, orgId, job)
  if (known !== null && isNamed(known)) return 'same'
  return (address ?? known) === null ? 'unknown' : 'other'
}

/** The address of a token's repository. Without a name, it is made of the ids of the claims. */
export async function readTokenAddress(db: Db, orgId: string, job: TokenJob): Promise<string> {
  const { address, owner_id, id } = job.repository
  const named = address ?? (await findKnownAddress(db, orgId, job))
  return named ?? `${getTokenHost(job)}/${owner_id ?? job.provider}/${id}`
}

/** The code host of a token's repository, or the provider's own if the issuer does not tell. */
export function getTokenHost({ provider, repository }: TokenJob): string {
  return repository.host ?? getDefaultHost(provider)
}

/**
 * Whether the organization knows the id of a token's repository as that of a repository of another
 * code host.
 */
export async function isOtherHosts(db: Db, orgId: string, { provider, repository }: TokenJob): Promise<boolean> {
  const known = await findFollowed(db, { org_id: orgId, provider, id: repository.id })
  return known !== null && repository.host !== null && known.host !== repository.host
}

/** True for two spellings of one address. Code hosts ignore case in names. */
export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

async function findKnownAddress(db: Db, orgId: string, { provider, repository }: TokenJob): Promise<string | null> {
  const known = await findFollowed(db, { org_id: orgId, provider, id: repository.id })
  if (known === null || (repository.host !== null && known.host !== repository.host)) return null
  return `${known.host}/${known.full_name}`
}
