import { findClaimedRepository } from '../../ci/evidence/newest-runs.store.ts'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import type { Db } from '../../platform/db/sql.ts'
import { getDefaultHost } from '../../repositories/repository-identity.ts'
import { findRepositoryAt } from '../../repositories/repository-lookup.store.ts'
import { findSecurityFacts, type SecurityFacts } from './policy-facts.store.ts'
import { findRepositoryNos } from './policy-repository.store.ts'

/**
 * Counts the open findings and issues of a branch of the repository `host/owner/name`; null means
 * the tracked branch.
 */
export async function findPolicyFacts(
  db: Db,
  orgId: string,
  repository: string,
  branch: string | null,
): Promise<SecurityFacts> {
  const { host, name, linked } = await findRepositoryAt(db, orgId, repository)
  const provider = PROVIDERS.find((known) => getDefaultHost(known) === host) ?? null
  // Without a link, only tokens say which provider a host of its own belongs to.
  const claimed = linked === null && provider === null ? await findClaimedRepository(db, orgId, repository) : null
  const numbers = await findRepositoryNos(db, orgId, { name, linked: linked ?? claimed, provider })
  return findSecurityFacts(db, orgId, numbers, branch ?? linked?.tracked_branch ?? null)
}
