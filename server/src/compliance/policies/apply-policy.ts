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
} from './policy.store.ts'

/** Published when a policy is created or gets a new version. */
export const policyApplied: Event<{ org_id: string; policy_id: string }> = {
  name: 'compliance.policy.applied',
  payload: Type.Object({ org_id: Type.String(), policy_id: Type.String() }),
}

/** A policy to apply. `bundle` is null unless the policy's engine is WebAssembly. */
export type PolicyToApply = { definition: PolicyDefinition; bundle: PolicyBundle | null }

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
  { definition, bundle }: PolicyToApply,
): Promise<AppliedPolicy> {
  const now = clock.now()
  const content_hash = hashOf(definition)
  const { name, mode, engine } = definition
  return sql.begin(async (tx) => {
    const { id, version } = await lockPolicy(tx, orgId, { name, newId: newUuid(now) }, now)
    const stored = await findContentHash(tx, orgId, id, version)
    if (stored?.equals(content_hash)) return { id, name, version, mode, changed: false }
    if (version === 0) await refuseTooMany(tx, orgId)
    if (engine.type === 'wasm' && bundle) await insertBundle(tx, orgId, { sha256: engine.bundle, ...bundle }, now)
    const applied = { id, name, version: version + 1, mode, changed: true }
    await insertVersion(tx, orgId, { id, version: applied.version, definition, content_hash }, now)
    await recordAudit(tx, orgId, auditEntry(principal, applied), now)
    await publish(tx, policyApplied, { org_id: orgId, policy_id: id })
    return applied
  })
}

function auditEntry(principal: Principal, { id, name, version, mode }: AppliedPolicy): AuditEntry {
  const object = { type: 'policy', id }
  return { principal, action: 'policy.apply', object, reason: null, details: { name, version, mode } }
}

/** Equal definitions are equal JSON, because the parser keeps one order of members. */
function hashOf(definition: PolicyDefinition): Buffer {
  return createHash('sha256').update(JSON.stringify(definition)).digest()
}

async function refuseTooMany(tx: Tx, orgId: string): Promise<void> {
  if ((await countPolicies(tx, orgId)) <= POLICIES_MAX) return
  throw new ApiError(400, 'invalid_request', `An organization can have at most ${POLICIES_MAX} policies`)
}
