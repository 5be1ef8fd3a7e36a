import { createHash } from 'node:crypto'
import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import { policyInRepository, policyInUse, tooManyPolicies } from '../../errors/deployments.ts'
import { versionConflict } from '../../errors/organizations.ts'
import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid, isUuid } from '../../platform/ids.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import type { PolicyBundle, PolicyDefinition, PolicyMode } from './policy.schema.ts'
import {
  countPolicies,
  insertBundle,
  lockListedPolicy,
  lockPolicy,
  POLICIES_MAX,
  type PolicyFileName,
  updatePolicyRemoved,
} from './policy.store.ts'
import { findContentHash, insertVersion } from './policy-version.store.ts'

/**
 * A policy to apply. `source` is the text of its file. `bundle` is null unless the policy's engine
 * is WebAssembly. `file` is the file of a repository, or null for a policy of the organization.
 * `expected_version` is the version that the file was edited from, 0 for a new policy.
 */
export type PolicyToApply = {
  definition: PolicyDefinition
  source: string
  bundle: PolicyBundle | null
  file: PolicyFileName | null
  expected_version?: number | undefined
}

/** `changed` is false if the current version already has the same content. */
export type AppliedPolicy = { id: string; name: string; version: number; mode: PolicyMode; changed: boolean }

/**
 * Applies a policy. New content becomes the next version, and earlier versions stay stored. Content
 * equal to the current version changes nothing. Simultaneous calls for one policy run one by one.
 * Throws 409 `version_conflict` if the policy has another version than expected, and 409
 * `too_many_policies`.
 */
export async function applyPolicy(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  author: Author,
  policy: PolicyToApply,
): Promise<AppliedPolicy> {
  return sql.begin((tx) => savePolicy(tx, orgId, { author, ...policy }, clock.now()))
}

/** Applies a policy in the caller's transaction, as `applyPolicy` does. */
export async function savePolicy(
  tx: Tx,
  orgId: string,
  policy: PolicyToApply & { author: Author },
  now: Date,
): Promise<AppliedPolicy> {
  const { author, definition, source, bundle, file } = policy
  // Equal definitions are equal JSON, because the parser keeps one order of members.
  const content_hash = createHash('sha256').update(JSON.stringify(definition)).digest()
  const { name, mode, engine } = definition
  const { id, version, is_removed } = await lockPolicy(tx, orgId, { name, newId: createUuid(now), file }, now)
  const present = is_removed ? 0 : version
  if ((policy.expected_version ?? present) !== present) throw versionConflict('policy', present)
  const stored = await findContentHash(tx, orgId, id, version)
  if (stored?.equals(content_hash) && !is_removed) return { id, name, version, mode, changed: false }
  if ((version === 0 || is_removed) && file === null) await refuseTooMany(tx, orgId)
  if (engine.type === 'wasm' && bundle) await insertBundle(tx, orgId, { sha256: engine.bundle, ...bundle }, now)
  const applied = { id, name, version: version + 1, mode, changed: true }
  await insertVersion(tx, orgId, { id, version: applied.version, definition, source, content_hash, author }, now)
  const details = { name, version: applied.version, mode, ...(file && { file }) }
  await insertAuditEntry(tx, orgId, { ...author, action: 'policy.apply', object: { type: 'policy', id }, details }, now)
  await publish(tx, policyChanged, { org_id: orgId, policy_id: id }, { actor: author.principal })
  return applied
}

/** The lock makes simultaneous calls count each other's policy. The new one is stored already. */
async function refuseTooMany(tx: Tx, orgId: string): Promise<void> {
  await lockName(tx, `policies of ${orgId}`)
  if ((await countPolicies(tx, orgId)) <= POLICIES_MAX) return
  throw tooManyPolicies(POLICIES_MAX)
}

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
  await updatePolicyRemoved(tx, org_id, { id: policy.id, removedBy: author.principal }, now)
  const entry = { ...author, action: 'policy.remove', object: { type: 'policy', id: policy.id } }
  await insertAuditEntry(tx, org_id, { ...entry, details: { name, version } }, now)
  await publish(tx, policyChanged, { org_id, policy_id: policy.id }, { actor: author.principal })
  return { id: policy.id, name }
}

/** Published when a policy is created, gets a new version or is removed. */
export const policyChanged = defineEvent('policy.changed', {
  payload: definePayload({ org_id: text, policy_id: text }),
  subject: ({ policy_id }) => ({ type: 'policy', id: policy_id }),
  updates: ({ policy_id }) => [update('policy', policy_id)],
})
