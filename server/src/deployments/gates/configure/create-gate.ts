import { recordAudit } from '../../../audit/audit.store.ts'
import type { Principal } from '../../../audit/principal.ts'
import { sqlState, type Tx, UNIQUE_VIOLATION } from '../../../platform/db/sql.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { newUuid } from '../../../platform/ids.ts'
import type { Services } from '../../../services.ts'
import { type ConfiguredGate, countGates, GATES_PER_ORGANIZATION_MAX, insertGate } from './configured-gate.store.ts'
import { type GateRequest, requireGate } from './gate-request.ts'

/**
 * Configures a gate of an organization; it covers what is opened from then on. Throws 400 for what no gate can be, and
 * 409 `name_taken` or `too_many_gates`.
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
    const message = `There is a gate "${gate.name}" already; "gate list" shows it`
    throw new ApiError(409, 'name_taken', message, {}, undefined, { cause: error })
  }
}

async function store(tx: Tx, orgId: string, principal: Principal, gate: ConfiguredGate): Promise<void> {
  if ((await countGates(tx, orgId)) >= GATES_PER_ORGANIZATION_MAX)
    throw new ApiError(409, 'too_many_gates', `An organization has at most ${GATES_PER_ORGANIZATION_MAX} gates`)
  await insertGate(tx, orgId, gate)
  const { id, created_at, ...details } = gate
  const object = { type: 'gate', id }
  await recordAudit(tx, orgId, { principal, action: 'gate.create', object, reason: null, details }, created_at)
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
