import { ApiError } from '../../platform/http/errors.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { lockDelivery, resetDelivery } from './delivery.store.ts'
import { applyShard } from './delivery.ts'

/**
 * Applies a delivery again that was applied, ignored or failed. Throws 404, and 409
 * `not_replayable` if it has not been settled or its payload has expired.
 */
export async function replayDelivery({ sql }: Pick<Services, 'sql'>, id: string): Promise<void> {
  await sql.begin(async (tx) => {
    const delivery = await lockDelivery(tx, id)
    if (!delivery) throw new ApiError(404, 'not_found', `There is no delivery with the id "${id.slice(0, 100)}".`)
    if (delivery.waiting)
      throw notReplayable(`The delivery waits until installation ${delivery.installation_id} is connected.`)
    if (delivery.status === 'received') throw notReplayable('The delivery has not been applied yet.')
    if (!delivery.has_payload) throw notReplayable('The payload of the delivery has expired.')
    await resetDelivery(tx, delivery)
    await enqueue(tx, applyShard, { shard: delivery.shard })
  })
}

function notReplayable(message: string): ApiError {
  return new ApiError(409, 'not_replayable', message)
}
