import { Type } from 'typebox'
import type { Principal } from '../../../audit/audit.store.ts'
import { recordAudit } from '../../../audit/audit.store.ts'
import { sqlState, type Tx, UNIQUE_VIOLATION } from '../../../platform/db/sql.ts'
import { ApiError, invalidId, notFound } from '../../../platform/http/errors.ts'
import { isUuid, newUuid } from '../../../platform/ids.ts'
import { type Event, publish } from '../../../platform/queue/event.ts'
import type { Services } from '../../../services.ts'
import {
  type ConfiguredGate,
  countGates,
  GATES_PER_ORGANIZATION_MAX,
  insertGate,
  removeGate,
} from './configured-gate.store.ts'
import { type GateRequest, requireGate } from './configured-gate.ts'

/** Published when a gate was created. */
export const gateConfigured: Event<{ org_id: string }> = {
  name: 'deployments.gate.configured',
  payload: Type.Object({ org_id: Type.String() }),
}

/**
 * Creates a gate of an organization. It applies to deployments that are created afterwards and to
 * waiting ones that no gate covers. Throws 400 `invalid_request`, 409 `name_taken` and 409
 * `too_many_gates`.
 */
export async function createGate(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  principal: Principal,
  request: GateRequest,
): Promise<ConfiguredGate> {
  const gate = toGate(requireGate(request), clock.now())
  try {
    await sql.begin((tx) => store(tx, orgId, principal, gate))
    return gate
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    const message = `A gate named "${gate.name}" already exists; run "gate list" to see it`
    throw new ApiError(409, 'name_taken', message).causedBy(error)
  }
}

async function store(tx: Tx, orgId: string, principal: Principal, gate: ConfiguredGate): Promise<void> {
  if ((await countGates(tx, orgId)) >= GATES_PER_ORGANIZATION_MAX)
    throw new ApiError(409, 'too_many_gates', `An organization can have at most ${GATES_PER_ORGANIZATION_MAX} gates`)
  await insertGate(tx, orgId, gate)
  const { id, created_at, ...details } = gate
  const object = { type: 'gate', id }
  await recordAudit(tx, orgId, { principal, action: 'gate.create', object, reason: null, details }, created_at)
  await publish(tx, gateConfigured, { org_id: orgId })
}

function toGate({ requiredApprovals, allowApiKeys, allowRunCreator, ...gate }: GateRequest, now: Date): ConfiguredGate {
  return {
    ...gate,
    id: newUuid(now),
    required_approvals: requiredApprovals,
    allow_api_keys: allowApiKeys,
    allow_run_creator: allowRunCreator,
    created_at: now,
  }
}

/**
 * Deletes a configured gate. Deployments that already require it keep requiring it. Throws 400 and
 * 404.
 */
export async function deleteGate(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  principal: Principal,
  id: string,
): Promise<{ id: string; name: string }> {
  if (!isUuid(id.toLowerCase())) throw invalidId(id, 'gate')
  return sql.begin(async (tx) => {
    const removed = await removeGate(tx, id)
    if (!removed) throw notFound('gate')
    const { org_id, name } = removed
    const object = { type: 'gate', id: removed.id }
    const entry = { principal, action: 'gate.delete', object, reason: null, details: { name } }
    await recordAudit(tx, org_id, entry, clock.now())
    return { id: removed.id, name }
  })
}
