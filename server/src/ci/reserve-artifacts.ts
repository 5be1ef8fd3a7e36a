import type { Actor } from '../access/actor.ts'
import { useMonthly } from '../organizations/usage.store.ts'
import { utcMonthStart } from '../platform/clock.ts'
import type { Tx } from '../platform/db/sql.ts'
import { newUuid } from '../platform/ids.ts'
import { ADDRESS_LIFETIME_MS } from '../platform/objects/object-store.ts'
import {
  type ArtifactRow,
  deleteArtifacts,
  findArtifacts,
  type StoredArtifact,
  sumRunBytes,
  upsertSlots,
} from './artifact.store.ts'
import type { ArtifactItem } from './report.schema.ts'

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
  const reservation = new Reservation(tx, actor, stored, now)
  reservation.runBytes = await sumRunBytes(tx, actor.org_id, report.runId, { reportId: report.id, paths }, now)
  for (const item of items) await reservation.add(item)
  await deleteArtifacts(tx, actor.org_id, report.id, { atPaths: reservation.outdatedPaths })
  if (reservation.slots.length > 0) await upsertSlots(tx, actor.org_id, report, reservation.slots, now)
  return reservation
}

class Reservation {
  readonly slots: ArtifactRow[] = []
  readonly skipped: Skipped[] = []
  /** Paths whose stored file is another one than the one that comes. */
  readonly outdatedPaths: string[] = []
  runBytes = 0
  readonly #tx: Tx
  readonly #actor: Actor
  readonly #stored: Map<string, StoredArtifact>
  readonly #now: Date

  constructor(tx: Tx, actor: Actor, stored: Map<string, StoredArtifact>, now: Date) {
    this.#tx = tx
    this.#actor = actor
    this.#stored = stored
    this.#now = now
  }

  async add(item: ArtifactItem): Promise<void> {
    const stored = this.#stored.get(item.path)
    const same = stored !== undefined && stored.sha256 === item.sha256 && stored.size === item.size
    const reason = await this.#reasonToSkip(item, same ? stored : undefined)
    if (reason !== null) this.skipped.push({ path: item.path, reason })
    if (reason === null || reason === 'already_uploaded' || same) this.runBytes += item.size
    if (reason !== null) return
    if (stored && !same) this.outdatedPaths.push(item.path)
    const put_until = new Date(this.#now.getTime() + ADDRESS_LIFETIME_MS)
    this.slots.push({ ...item, id: same ? stored.id : newUuid(this.#now), put_until })
  }

  async #reasonToSkip({ size }: ArtifactItem, same: StoredArtifact | undefined): Promise<SkipReason | null> {
    const { plan, org_id } = this.#actor
    if (same?.status === 'uploaded') return 'already_uploaded'
    if (size > plan.artifact_bytes_max) return 'too_large'
    if (this.runBytes + size > plan.artifact_bytes_per_run_max) return 'run_quota'
    const max = plan.artifact_bytes_per_month_max
    if (max === null || same) return null
    const use = { metric: 'artifact_bytes', amount: size, month: utcMonthStart(this.#now), max } as const
    return (await useMonthly(this.#tx, org_id, use)) ? null : 'monthly_quota'
  }
}
