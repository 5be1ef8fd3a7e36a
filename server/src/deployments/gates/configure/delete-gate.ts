import { recordAudit } from '../../../audit/audit.store.ts'
import type { Principal } from '../../../audit/principal.ts'
import { ApiError, notFound } from '../../../platform/http/errors.ts'
import type { Services } from '../../../services.ts'
import { removeGate } from './configured-gate.store.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Removes a configured gate. What was opened under it keeps asking it. Throws 400 and 404. */
export async function deleteGate(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  principal: Principal,
  id: string,
): Promise<{ id: string; name: string }> {
  if (!UUID.test(id))
    throw new ApiError(400, 'invalid_request', `"${id.slice(0, 80)}" is not the id of a gate, which is a UUID`)
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
