import { Batch } from '../../platform/batch.ts'
import type { Sql } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { applyShard } from './apply-deliveries.job.ts'
import { computeShard, type NewDelivery } from './delivery.ts'
import { insertDeliveries } from './new-delivery.store.ts'

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
