import { findClaimedRepository } from '../../ci/evidence/newest-runs.store.ts'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import type { Db } from '../../platform/db/sql.ts'
import { defaultHost } from '../../repositories/repository-identity.ts'
import { locateRepository } from '../../repositories/repository-lookup.store.ts'
import { readSecurityFacts, type SecurityFacts } from './policy-facts.store.ts'
import { findRepositoryNos } from './policy-repository.store.ts'

/**
 * Counts the open findings and issues of a branch of the repository `host/owner/name`; null means
 * the tracked branch.
 */
export async function readPolicyFacts(
  db: Db,
  orgId: string,
  repository: string,
  branch: string | null,
): Promise<SecurityFacts> {
  const { host, name, linked } = await locateRepository(db, orgId, repository)
  const provider = PROVIDERS.find((known) => defaultHost(known) === host) ?? null
  // Without a link, only tokens say which provider a host of its own belongs to.
  const claimed = linked === null && provider === null ? await findClaimedRepository(db, orgId, repository) : null
  const numbers = await findRepositoryNos(db, orgId, { name, linked: linked ?? claimed, provider })
  return readSecurityFacts(db, orgId, numbers, branch ?? linked?.tracked_branch ?? null)
}
