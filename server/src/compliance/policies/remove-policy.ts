import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import { policyInRepository, policyInUse } from '../../errors/deployments.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { publish } from '../../platform/queue/event.ts'
import { policyChanged } from './policy.events.ts'
import { lockListedPolicy, updatePolicyRemoved } from './policy.store.ts'

type Removal = {
  org_id: string
  id: string
  author: Author
  /** Finds the names of the gates that evaluate a policy. */
  findGates: (tx: Tx, orgId: string, policyName: string) => Promise<string[]>
}

/**
 * Removes a policy of an organization. Its versions stay stored, and applying a file with its name
 * continues them. Throws 404, 409 `policy_in_repository` if the policy comes from a file in a
 * repository, and 409 `policy_in_use` if a gate names it.
 */
export async function removePolicy(
  tx: Tx,
  { org_id, id, author, findGates }: Removal,
  now: Date,
): Promise<{ id: string; name: string }> {
  const policy = isUuid(id) ? await lockListedPolicy(tx, org_id, id) : null
  if (policy === null) throw createNotFoundError('policy')
  const { name, path, version } = policy
  if (path !== null) throw policyInRepository(path)
  const gates = await findGates(tx, org_id, name)
  if (gates.length > 0) throw policyInUse(gates)
  await updatePolicyRemoved(tx, org_id, policy.id, now)
  const entry = { ...author, action: 'policy.remove', object: { type: 'policy', id: policy.id } }
  await insertAuditEntry(tx, org_id, { ...entry, details: { name, version } }, now)
  await publish(tx, policyChanged, { org_id, policy_id: policy.id }, { actor: author.principal })
  return { id: policy.id, name }
}
