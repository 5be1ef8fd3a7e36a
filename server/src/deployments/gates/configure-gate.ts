import { isDeepStrictEqual } from 'node:util'
import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import { tooManyGates } from '../../errors/deployments.ts'
import { nameTaken, versionConflict } from '../../errors/organizations.ts'
import { lockName } from '../../platform/db/advisory-lock.ts'
import { getSqlState, type Tx, UNIQUE_VIOLATION } from '../../platform/db/sql.ts'
import { createInvalidIdError, createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid, isUuid } from '../../platform/ids.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import type { ConfiguredGate, GateSettings, GivenGate } from './configured-gate.schema.ts'
import {
  countGates,
  deleteConfiguredGate,
  GATES_PER_ORGANIZATION_MAX,
  insertGateVersion,
  lockGate,
  upsertGate,
} from './configured-gate.store.ts'
import { requireGate } from './configured-gate.ts'

/** A change can be a part of a transaction. */
type Needs = Pick<Services, 'clock'> & { sql: { begin<T>(work: (tx: Tx) => Promise<T>): Promise<T> } }

/**
 * Creates a gate of an organization. It applies to deployments that are created afterwards and to
 * waiting ones that no gate covers. Throws 400 `invalid_request`, 409 `name_taken` and 409
 * `too_many_gates`.
 */
export async function createGate(
  { sql, clock }: Needs,
  orgId: string,
  author: Author,
  settings: GivenGate,
): Promise<ConfiguredGate> {
  const now = clock.now()
  const checked = requireGate(settings, null)
  const gate = { id: createUuid(now), ...checked, version: 1, created_at: now, updated_at: now }
  return refusingTakenName(gate, () =>
    sql.begin(async (tx) => {
      // The lock makes simultaneous calls count each other's gate.
      await lockName(tx, `gates of ${orgId}`)
      if ((await countGates(tx, orgId)) >= GATES_PER_ORGANIZATION_MAX) throw tooManyGates(GATES_PER_ORGANIZATION_MAX)
      await store(tx, orgId, gate, author)
      await audit(tx, orgId, { author, action: 'gate.create', id: gate.id, details: checked }, now)
    }),
  )
}

/** The fields to change. `expected_version` is the version that the change is based on. */
export type GateChange = Partial<GateSettings> & { expected_version?: number }

/**
 * Changes a gate. Deployments that already require it, or are opened within a day, keep the
 * settings from before where these are stricter. Settings equal to the current ones change nothing.
 * Throws 400 `invalid_request`, 404, 409 `name_taken`, and 409 `version_conflict` if the gate has
 * another version than expected.
 */
export async function updateGate(
  { sql, clock }: Needs,
  { org_id, id }: { org_id: string; id: string },
  author: Author,
  change: GateChange,
): Promise<ConfiguredGate> {
  if (!isUuid(id.toLowerCase())) throw createNotFoundError('gate')
  const now = clock.now()
  return sql.begin(async (tx) => {
    const gate = await lockGate(tx, org_id, id)
    if (gate === null) throw createNotFoundError('gate')
    const { before, after } = mergeGateChange(gate, change)
    if (isDeepStrictEqual(before, after)) return gate
    const changed = { ...gate, ...after, version: gate.version + 1, updated_at: now }
    return refusingTakenName(changed, async () => {
      await store(tx, org_id, changed, author)
      const details = { version: changed.version, ...differences(before, after) }
      await audit(tx, org_id, { author, action: 'gate.change', id: gate.id, details }, now)
    })
  })
}

/**
 * The settings of a gate before and after a change. Throws 400, and 409 `version_conflict` if the
 * gate has another version than expected.
 */
export function mergeGateChange(gate: ConfiguredGate, { expected_version, ...change }: GateChange) {
  if (expected_version !== undefined && expected_version !== gate.version) throw versionConflict('gate', gate.version)
  const { id: _, version: _version, created_at, updated_at, ...before } = gate
  const { approve_by_policies: _approve, ...kept } = before
  return { before, after: requireGate({ ...kept, ...change }, before) }
}

/**
 * Deletes a configured gate of an organization, or of any (null). Deployments that already require
 * it, or are opened within a day, require it. Throws 400 and 404.
 */
export async function deleteGate(
  { sql, clock }: Needs,
  { org_id, id, expected_version }: { org_id: string | null; id: string; expected_version?: number },
  author: Author,
): Promise<{ id: string; name: string }> {
  if (!isUuid(id.toLowerCase())) throw org_id === null ? createInvalidIdError(id, 'gate') : createNotFoundError('gate')
  return sql.begin(async (tx) => {
    const removed = await deleteConfiguredGate(tx, org_id, id)
    if (!removed) throw createNotFoundError('gate')
    const { org_id: owner, ...gate } = removed
    if ((expected_version ?? gate.version) !== gate.version) throw versionConflict('gate', gate.version)
    const now = clock.now()
    await insertGateVersion(tx, owner, { ...gate, version: gate.version + 1, updated_at: now, deleted: true }, author)
    await audit(tx, owner, { author, action: 'gate.delete', id: gate.id, details: { name: gate.name } }, now)
    return { id: gate.id, name: gate.name }
  })
}

async function store(tx: Tx, orgId: string, gate: ConfiguredGate, author: Author): Promise<void> {
  await upsertGate(tx, orgId, gate, author)
  await publish(tx, gateConfigured, { org_id: orgId }, { actor: author.principal })
}

async function refusingTakenName(gate: ConfiguredGate, write: () => Promise<void>): Promise<ConfiguredGate> {
  try {
    await write()
    return gate
  } catch (error) {
    if (getSqlState(error) !== UNIQUE_VIOLATION) throw error
    throw nameTaken(`A gate named "${gate.name}" already exists.`).causedBy(error)
  }
}

/** The settings that differ, as they were and as they are. */
function differences(before: GateSettings, after: GateSettings) {
  const names = (Object.keys(after) as (keyof GateSettings)[]).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  )
  const pick = (settings: GateSettings) => Object.fromEntries(names.map((name) => [name, settings[name]]))
  return { before: pick(before), after: pick(after) }
}

type Audited = { author: Author; action: string; id: string; details: Record<string, unknown> }

async function audit(tx: Tx, orgId: string, { author, action, id, details }: Audited, at: Date): Promise<void> {
  await insertAuditEntry(tx, orgId, { ...author, action, object: { type: 'gate', id }, details }, at)
}

/** Published when a gate was created or changed. */
export const gateConfigured = defineEvent('deployments.gate.configured', {
  payload: definePayload({ org_id: text }),
  subject: () => ({ type: 'gate', id: null }),
  updates: () => [update('gate'), update('deployment')],
})
