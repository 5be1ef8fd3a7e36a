import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import type { Principal } from '../../audit/audit.store.ts'
import { type AuditEntry, recordAudit } from '../../audit/audit.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import { type Event, publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import type { PolicyBundle, PolicyDefinition } from './policy.schema.ts'
import {
  countPolicies,
  findContentHash,
  insertBundle,
  insertVersion,
  lockPolicy,
  POLICIES_MAX,
  type PolicyFileName,
} from './policy.store.ts'

/** Published when a policy is created or gets a new version. */
export const policyApplied: Event<{ org_id: string; policy_id: string }> = {
  name: 'compliance.policy.applied',
  payload: Type.Object({ org_id: Type.String(), policy_id: Type.String() }),
}

/**
 * A policy to apply. `bundle` is null unless the policy's engine is WebAssembly. `file` is the file
 * of a repository, or null for a policy of the organization.
 */
export type PolicyToApply = {
  definition: PolicyDefinition
  bundle: PolicyBundle | null
  file: PolicyFileName | null
}

/** `changed` is false if the current version already has the same content. */
export type AppliedPolicy = { id: string; name: string; version: number; mode: string; changed: boolean }

/**
 * Applies a policy. New content becomes the next version, and earlier versions stay stored. Content
 * equal to the current version changes nothing. Simultaneous calls for one policy run one by one.
 */
export async function applyPolicy(
  { sql, clock }: Services,
  orgId: string,
  principal: Principal,
  policy: PolicyToApply,
): Promise<AppliedPolicy> {
  return sql.begin((tx) => storePolicy(tx, orgId, { principal, ...policy }, clock.now()))
}

/** Applies a policy in the caller's transaction, as `applyPolicy` does. */
export async function storePolicy(
  tx: Tx,
  orgId: string,
  { principal, definition, bundle, file }: PolicyToApply & { principal: Principal },
  now: Date,
): Promise<AppliedPolicy> {
  const content_hash = hashOf(definition)
  const { name, mode, engine } = definition
  const { id, version, is_removed } = await lockPolicy(tx, orgId, { name, newId: newUuid(now), file }, now)
  const stored = await findContentHash(tx, orgId, id, version)
  if (stored?.equals(content_hash) && !is_removed) return { id, name, version, mode, changed: false }
  if (version === 0 && file === null) await refuseTooMany(tx, orgId)
  if (engine.type === 'wasm' && bundle) await insertBundle(tx, orgId, { sha256: engine.bundle, ...bundle }, now)
  const applied = { id, name, version: version + 1, mode, changed: true }
  await insertVersion(tx, orgId, { id, version: applied.version, definition, content_hash }, now)
  await recordAudit(tx, orgId, auditEntry(principal, applied, file), now)
  await publish(tx, policyApplied, { org_id: orgId, policy_id: id })
  return applied
}

function auditEntry(
  principal: Principal,
  { id, name, version, mode }: AppliedPolicy,
  file: PolicyFileName | null,
): AuditEntry {
  const details = { name, version, mode, ...(file && { file }) }
  return { principal, action: 'policy.apply', object: { type: 'policy', id }, reason: null, details }
}

/** Equal definitions are equal JSON, because the parser keeps one order of members. */
function hashOf(definition: PolicyDefinition): Buffer {
  return createHash('sha256').update(JSON.stringify(definition)).digest()
}

async function refuseTooMany(tx: Tx, orgId: string): Promise<void> {
  if ((await countPolicies(tx, orgId)) <= POLICIES_MAX) return
  throw new ApiError(400, 'invalid_request', `An organization can have at most ${POLICIES_MAX} policies`)
}
