import { requireChoice } from '@shiplock/command-line/options'
import { PROVIDERS } from '../codehosts/catalogue.ts'
import { listOrganizations } from '../organizations/organization.store.ts'
import type { Sql } from '../platform/db/sql.ts'
import type { ChainKey } from '../provenance/chain/link.ts'
import { findByAddress, findById } from '../repositories/repository.store.ts'

/** How a command names a repository: `owner/name`, `host/owner/name` or `provider:id`. */
type Named = { repository: string; provider?: string | undefined }

const BY_ID = new RegExp(`^(${PROVIDERS.join('|')}):(.+)$`)

/** The chains of the repositories that a name can mean. Throws if there is none. */
export async function requireChains(
  sql: Sql,
  orgId: string | null,
  { repository, provider }: Named,
): Promise<ChainKey[]> {
  const known = provider === undefined ? null : requireChoice('provider', provider, PROVIDERS)
  const orgIds = orgId === null ? (await listOrganizations(sql)).map(({ id }) => id) : [orgId]
  const found: ChainKey[] = []
  for (const id of orgIds) found.push(...(await findChains(sql, id, repository)))
  const chains = found.filter((chain) => known === null || chain.provider === known)
  if (chains.length === 0) throw new Error(`The repository ${repository} does not exist`)
  return chains
}

/** The chain of the repository that a name means. Throws if several have the name. */
export async function requireChain(sql: Sql, orgId: string, named: Named): Promise<ChainKey> {
  const [chain, ...others] = await requireChains(sql, orgId, named)
  if (others.length === 0) return chain as ChainKey
  const listed = [chain as ChainKey, ...others].map(({ provider, repository_id }) => `${provider}:${repository_id}`)
  throw new Error(
    `Several repositories are named ${named.repository}: ${listed.join(', ')}; use --provider, or one of these names`,
  )
}

async function findChains(sql: Sql, org_id: string, repository: string): Promise<ChainKey[]> {
  const [, provider, repository_id] = BY_ID.exec(repository) ?? []
  if (provider !== undefined && repository_id !== undefined) return [{ org_id, provider, repository_id }]
  const found = await findByAddress(sql, org_id, repository)
  return found.map(({ provider, id }) => ({ org_id, provider, repository_id: id }))
}

/** The full name of a chain's repository, or `provider:id` if the repository is unknown. */
export async function findChainName(sql: Sql, { org_id, provider, repository_id }: ChainKey): Promise<string> {
  const repository = await findById(sql, org_id, provider, repository_id)
  return repository?.full_name ?? `${provider}:${repository_id}`
}
