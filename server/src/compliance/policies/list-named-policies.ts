import type { Db } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { listRepositories } from '../../repositories/repository.store.ts'
import { findById } from '../../repositories/repository-lookup.store.ts'
import { findPolicy, type ListedPolicy, listAllPolicies } from './policy.store.ts'

/** A policy; `repository` names the repository whose file it comes from, as `owner/name`. */
export type NamedPolicy = ListedPolicy & { repository: string | null }

/** Lists the policies of an organization, and then those of all its repositories. */
export async function listNamedPolicies(db: Db, orgId: string): Promise<NamedPolicy[]> {
  const [policies, repositories] = await Promise.all([listAllPolicies(db, orgId), listRepositories(db, orgId)])
  const names = new Map(repositories.map(({ provider, id, full_name }) => [`${provider} ${id}`, full_name]))
  return policies.map((policy) => {
    const { provider, repository_id } = policy
    return { ...policy, repository: names.get(`${provider} ${repository_id}`) ?? repository_id }
  })
}

/** Finds a policy that is not removed. Throws 404. */
export async function requireNamedPolicy(db: Db, orgId: string, id: string): Promise<NamedPolicy> {
  const policy = isUuid(id) ? await findPolicy(db, orgId, id) : null
  if (policy === null) throw createNotFoundError('policy')
  const { provider, repository_id } = policy
  if (provider === null || repository_id === null) return { ...policy, repository: null }
  const repository = await findById(db, orgId, provider, repository_id)
  return { ...policy, repository: repository?.full_name ?? repository_id }
}
