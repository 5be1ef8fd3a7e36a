import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { notReplayable } from '../../errors/codehosts.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { applyShard } from './apply-deliveries.job.ts'
import { lockDelivery, updateDeliveryReset } from './delivery.store.ts'

/** The delivery to apply again; of the organization if one is given. */
type AskedReplay = { id: string; org_id?: string }

/**
 * Applies a delivery again that was applied, ignored or failed. Throws 404, and 409
 * `not_replayable` if it has not been settled or its payload has expired.
 */
export async function replayDelivery(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { id, org_id }: AskedReplay,
  principal: Principal,
): Promise<void> {
  await sql.begin(async (tx) => {
    const delivery = await lockDelivery(tx, id)
    if (!delivery || (org_id !== undefined && delivery.org_id !== org_id)) throw createNotFoundError('delivery')
    if (delivery.waiting)
      throw notReplayable(`The delivery waits until installation ${delivery.installation_id} is connected.`)
    if (delivery.status === 'received') throw notReplayable('The delivery has not been applied yet.')
    if (!delivery.has_payload) throw notReplayable('The payload of the delivery has expired.')
    await updateDeliveryReset(tx, delivery)
    await enqueue(tx, applyShard, { shard: delivery.shard })
    const entry = { principal, action: 'delivery.replay', object: { type: 'delivery', id }, reason: null }
    if (delivery.org_id) await insertAuditEntry(tx, delivery.org_id, entry, clock.now())
  })
}
