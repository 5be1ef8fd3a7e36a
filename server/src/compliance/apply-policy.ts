import { createHash } from 'node:crypto'
import { type AuditEntry, recordAudit } from '../audit/audit.store.ts'
import type { Principal } from '../audit/principal.ts'
import type { Tx } from '../platform/db/sql.ts'
import { ApiError } from '../platform/http/errors.ts'
import { newUuid } from '../platform/ids.ts'
import { publish } from '../platform/queue/event.ts'
import type { Services } from '../services.ts'
import type { PolicyDefinition } from './policy.schema.ts'
import { countPolicies, findContentHash, insertVersion, lockPolicy, POLICIES_MAX } from './policy.store.ts'
import { policyApplied } from './policy-applied.event.ts'
import { insertBundle } from './policy-bundle.store.ts'
import type { PolicyBundle } from './policy-bundle.ts'

/** `changed` is false where the version in force says the same already. */
export type AppliedPolicy = { id: string; name: string; version: number; mode: string; changed: boolean }

/**
 * Puts a policy in force. One that says the same as the version in force changes nothing; another becomes the next
 * version, and the versions before it stay. Safe at the same instant: one after the other.
 */
export async function applyPolicy(
  { sql, clock }: Services,
  orgId: string,
  principal: Principal,
  definition: PolicyDefinition,
  bundle: PolicyBundle | null,
): Promise<AppliedPolicy> {
  const now = clock.now()
  const content_hash = hashOf(definition)
  const { name, mode, engine } = definition
  return sql.begin(async (tx) => {
    const { id, version } = await lockPolicy(tx, orgId, name, newUuid(now), now)
    const stored = await findContentHash(tx, orgId, id, version)
    if (stored?.equals(content_hash)) return { id, name, version, mode, changed: false }
    if (version === 0) await refuseTooMany(tx, orgId)
    if (engine.type === 'wasm' && bundle) await insertBundle(tx, orgId, engine.bundle, bundle, now)
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

/** The parser writes every definition with its members in one order, so equal ones are equal texts. */
function hashOf(definition: PolicyDefinition): Buffer {
  return createHash('sha256').update(JSON.stringify(definition)).digest()
}

async function refuseTooMany(tx: Tx, orgId: string): Promise<void> {
  if ((await countPolicies(tx, orgId)) <= POLICIES_MAX) return
  throw new ApiError(400, 'invalid_request', `An organization has at most ${POLICIES_MAX} policies`)
}
