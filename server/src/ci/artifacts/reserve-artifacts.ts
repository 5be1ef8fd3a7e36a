import type { Actor } from '../../access/actor.ts'
import { useMonthly } from '../../organizations/usage.store.ts'
import { utcMonthStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { newUuid } from '../../platform/ids.ts'
import { ADDRESS_LIFETIME_MS } from '../../platform/objects/object-store.ts'
import type { ArtifactItem } from '../reports/report.schema.ts'
import {
  type ArtifactRow,
  deleteArtifacts,
  findArtifacts,
  type StoredArtifact,
  sumRunBytes,
  upsertSlots,
} from './artifact.store.ts'

export type SkipReason = 'already_uploaded' | 'too_large' | 'run_quota' | 'monthly_quota'
export type Skipped = { path: string; reason: SkipReason }
export type Reserved = { slots: ArtifactRow[]; skipped: Skipped[] }

/**
 * Decides for each file whether it gets a slot, in the order of the request, and opens the slots. The caller holds the
 * run's lock, so that the quota of a run is exact. What a plan does not take is skipped and the rest stands (decisions §6).
 */
export async function reserveArtifacts(
  tx: Tx,
  actor: Actor,
  report: { id: string; runId: string },
  items: ArtifactItem[],
  now: Date,
): Promise<Reserved> {
  const paths = items.map(({ path }) => path)
  const stored = new Map((await findArtifacts(tx, actor.org_id, report.id, paths)).map((row) => [row.path, row]))
  const runBytes = await sumRunBytes(tx, actor.org_id, report.runId, now)
  const reservation = new Reservation(tx, actor, stored, runBytes, now)
  for (const item of items) await reservation.add(item)
  await deleteArtifacts(tx, actor.org_id, report.id, reservation.outdatedPaths)
  if (reservation.slots.length > 0) await upsertSlots(tx, actor.org_id, report, reservation.slots, now)
  return reservation
}

class Reservation {
  readonly slots: ArtifactRow[] = []
  readonly skipped: Skipped[] = []
  /** Paths whose stored artifact makes way for the one that comes. */
  readonly outdatedPaths: string[] = []
  #runBytes: number
  readonly #tx: Tx
  readonly #actor: Actor
  readonly #stored: Map<string, StoredArtifact>
  readonly #now: Date

  constructor(tx: Tx, actor: Actor, stored: Map<string, StoredArtifact>, runBytes: number, now: Date) {
    this.#tx = tx
    this.#actor = actor
    this.#stored = stored
    this.#runBytes = runBytes
    this.#now = now
  }

  async add(item: ArtifactItem): Promise<void> {
    const stored = this.#stored.get(item.path)
    const same = stored?.sha256 === item.sha256 && stored.size === item.size ? stored : undefined
    const runBytes = this.#runBytes - this.#countedBytes(stored) + item.size
    const reason = await this.#reasonToSkip(item, same, runBytes)
    if (reason !== null) {
      this.skipped.push({ path: item.path, reason })
      return
    }
    this.#runBytes = runBytes
    // A rejected one is not taken up again: its object is on its way out.
    const waiting = same?.status === 'pending' ? same : undefined
    if (stored && !waiting) this.outdatedPaths.push(item.path)
    const put_until = new Date(this.#now.getTime() + ADDRESS_LIFETIME_MS)
    this.slots.push({ ...item, id: waiting?.id ?? newUuid(this.#now), put_until })
  }

  /** What a stored artifact takes of its run's quota, by the same rule as `sumRunBytes`. */
  #countedBytes(stored: StoredArtifact | undefined): number {
    const counts = stored?.status === 'uploaded' || (stored?.status === 'pending' && stored.put_until > this.#now)
    return counts ? stored.size : 0
  }

  /** `runBytes` is what the run would hold with the file. The same file is counted once in a month. */
  async #reasonToSkip(
    item: ArtifactItem,
    same: StoredArtifact | undefined,
    runBytes: number,
  ): Promise<SkipReason | null> {
    const { plan, org_id } = this.#actor
    if (same?.status === 'uploaded') return 'already_uploaded'
    if (item.size > plan.artifact_bytes_max) return 'too_large'
    if (runBytes > plan.artifact_bytes_per_run_max) return 'run_quota'
    const max = plan.artifact_bytes_per_month_max
    if (max === null || same) return null
    const use = { metric: 'artifact_bytes', amount: item.size, month: utcMonthStart(this.#now), max } as const
    return (await useMonthly(this.#tx, org_id, use)) ? null : 'monthly_quota'
  }
}
