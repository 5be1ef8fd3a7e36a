import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { notReplayable } from '../../errors/codehosts.ts'
import { Batch } from '../../platform/concurrency.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { applyShard } from './deliveries.job.ts'
import { insertDeliveries, lockDelivery, updateDeliveryReset } from './delivery.store.ts'
import { computeShard, type NewDelivery } from './delivery.ts'

const QUEUED_EVERY_MS = 200

/**
 * Stores the deliveries that arrive at the same time in one statement, which also queues the jobs
 * that apply them. The job of a shard is queued at most every 200 ms, because it costs as much as
 * storing: what is stored meanwhile is queued afterwards. `resumeDeliveries` queues it if the
 * process ends before that.
 */
export class DeliveryIntake {
  readonly #sql: Sql
  readonly #log: Services['log']
  readonly #inserts: Batch<NewDelivery, void>
  /** Shards whose job was queued less than 200 ms ago. */
  readonly #recent = new Set<number>()
  /** Those of them with deliveries that were stored since. */
  readonly #late = new Set<number>()
  #timer: NodeJS.Timeout | undefined

  constructor({ sql, log }: Pick<Services, 'sql' | 'log'>) {
    this.#sql = sql
    this.#log = log
    this.#inserts = new Batch<NewDelivery, void>(async (deliveries) => {
      await this.#insert(deliveries)
      return deliveries.map(() => undefined)
    })
  }

  /** Resolves when the delivery is stored. A delivery that is stored already is left unchanged. */
  store(delivery: NewDelivery): Promise<void> {
    return this.#inserts.add(delivery)
  }

  /** Queues what is late. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#queueLate()
  }

  async #insert(deliveries: readonly NewDelivery[]): Promise<void> {
    const shards = new Set(deliveries.map(({ lane }) => computeShard(lane)))
    const queued = shards.difference(this.#recent)
    for (const shard of queued) this.#recent.add(shard)
    this.#passSoon()
    await insertDeliveries(this.#sql, deliveries, [...queued])
    for (const shard of shards.difference(queued)) this.#late.add(shard)
    this.#passSoon()
  }

  #passSoon(): void {
    this.#timer ??= setTimeout(() => void this.#pass(), QUEUED_EVERY_MS)
  }

  async #pass(): Promise<void> {
    this.#timer = undefined
    this.#recent.clear()
    await this.#queueLate().catch((err) => this.#log.warn({ err }, 'Could not queue stored deliveries'))
  }

  async #queueLate(): Promise<void> {
    const shards = [...this.#late].sort()
    this.#late.clear()
    for (const shard of shards) await enqueue(this.#sql, applyShard, { shard })
  }
}

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
