import type { Actor } from '../../access/actor.ts'
import { upsertMonthlyUse } from '../../organizations/organization.store.ts'
import { getUtcMonthStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldsError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import { ADDRESS_LIFETIME_MS } from '../../platform/objects/object-store.ts'
import { getTokenJob, isOtherHosts, readTokenAddress } from '../runs/token-repository.ts'
import type { TrustClass } from '../runs/trust.ts'
import type { ArtifactItem, Skipped } from './artifact.schema.ts'
import {
  type ArtifactRow,
  countRunBytes,
  type Declarer,
  findArtifactsByPath,
  type ReportKey,
  type StoredArtifact,
  updateDeclarer,
  upsertSlots,
} from './artifact.store.ts'
import { deleteArtifacts } from './artifact-removal.store.ts'

type ReservationRequest = {
  actor: Actor
  report: ReportKey
  trust: TrustClass
  items: ArtifactItem[]
  /** Whether the report is replaced: then it keeps no file whose new one is skipped. */
  isWhole: boolean
  now: Date
}
type Reserved = { slots: ArtifactRow[]; skipped: Skipped[] }

/**
 * Decides for each file, in the order of the request, whether it gets a slot, and opens the slots.
 * Files that the plan does not allow are skipped (decisions §6). The caller has locked the run,
 * which keeps its quota exact.
 */
export async function reserveArtifacts(tx: Tx, request: ReservationRequest): Promise<Reserved> {
  const { report, trust, items, now } = request
  const paths = items.map(({ path }) => path)
  const stored = Map.groupBy(await findArtifactsByPath(tx, report, paths), ({ path }) => path)
  const reservation = new Reservation(tx, request, stored, await countRunBytes(tx, report, trust, now))
  for (const item of items) await reservation.add(item)
  await deleteArtifacts(tx, report, reservation.outdatedPaths, 'not_uploaded')
  await deleteArtifacts(tx, report, reservation.refusedPaths, 'uploaded')
  const declared = { ...report, declarer: await readDeclarer(tx, request) }
  if (reservation.slots.length > 0) await upsertSlots(tx, declared, reservation.slots, now)
  const uploaded = reservation.skipped.filter(({ reason }) => reason === 'already_uploaded')
  if (uploaded.length > 0)
    await updateDeclarer(
      tx,
      declared,
      uploaded.map(({ path }) => path),
      now,
    )
  return reservation
}

async function readDeclarer(tx: Tx, { actor, trust }: ReservationRequest): Promise<Declarer> {
  const job = getTokenJob(actor)
  if (job === null) return { trust, repository: null }
  const address = await readTokenAddress(tx, actor.org_id, job)
  const { host, id } = job.repository
  // With this id, the file would be read for a repository of another code host.
  const unlinked = (await isOtherHosts(tx, actor.org_id, job)) ? `${host}/${id}` : id
  return { trust, repository: { provider: job.provider, id: unlinked, address } }
}

class Reservation {
  readonly slots: ArtifactRow[] = []
  readonly skipped: Skipped[] = []
  /** Paths whose slot, or rejected file, gives way to another file. */
  readonly outdatedPaths: string[] = []
  /** Paths whose uploaded file goes without a new one. */
  readonly refusedPaths: string[] = []
  #runBytes: number
  readonly #tx: Tx
  readonly #actor: Actor
  readonly #stored: Map<string, StoredArtifact[]>
  readonly #isWhole: boolean
  readonly #now: Date

  constructor(
    tx: Tx,
    { actor, isWhole, now }: ReservationRequest,
    stored: Map<string, StoredArtifact[]>,
    runBytes: number,
  ) {
    this.#tx = tx
    this.#actor = actor
    this.#stored = stored
    this.#runBytes = runBytes
    this.#isWhole = isWhole
    this.#now = now
  }

  async add(item: ArtifactItem): Promise<void> {
    const stored = this.#stored.get(item.path) ?? []
    const uploaded = stored.find(({ status }) => status === 'uploaded')
    const other = stored.find(({ status }) => status !== 'uploaded')
    const same = stored.find(({ sha256, size }) => sha256 === item.sha256 && size === item.size)
    const isUploaded = same !== undefined && same === uploaded
    const kept = uploaded?.size ?? 0
    const runBytes = this.#runBytes - this.#countedBytes(stored) + Math.max(kept, item.size)
    const reason = isUploaded ? 'already_uploaded' : await this.#reasonToSkip(item, { same, kept, runBytes })
    // A rejected artifact is not reused: its object is about to be removed.
    const waiting = same?.status === 'pending' ? same : undefined
    if (other && !waiting && (reason === null || isUploaded)) this.outdatedPaths.push(item.path)
    if (reason !== null) {
      this.skipped.push({ path: item.path, reason })
      if (isUploaded || !this.#isWhole) return
      this.refusedPaths.push(item.path)
      this.#runBytes -= this.#countedBytes(stored)
      return
    }
    this.#runBytes = runBytes
    const put_until = new Date(this.#now.getTime() + ADDRESS_LIFETIME_MS)
    this.slots.push({ ...item, id: waiting?.id ?? createUuid(this.#now), put_until })
  }

  /**
   * The bytes of the stored artifacts of a path that count toward the quota of its run, by the rule
   * of `countRunBytes`.
   */
  #countedBytes(stored: readonly StoredArtifact[]): number {
    const counted = stored.filter(
      ({ status, put_until }) => status === 'uploaded' || (status === 'pending' && put_until > this.#now),
    )
    return Math.max(0, ...counted.map(({ size }) => size))
  }

  /**
   * `runBytes` is the size of all artifacts of the run, this one included, and `kept` that of the
   * file that it replaces. The monthly quota counts the same file of a report once.
   */
  async #reasonToSkip(
    item: ArtifactItem,
    { same, kept, runBytes }: { same: StoredArtifact | undefined; kept: number; runBytes: number },
  ): Promise<Skipped['reason'] | null> {
    const { plan, org_id } = this.#actor
    if (item.size > plan.artifact_bytes_max) return 'too_large'
    if (runBytes > plan.artifact_bytes_per_run_max) return 'run_quota'
    const max = plan.artifact_bytes_per_month_max
    const amount = Math.max(0, item.size - kept)
    if (max === null || same || amount === 0) return null
    const use = { metric: 'artifact_bytes', amount, month: getUtcMonthStart(this.#now), max } as const
    return (await upsertMonthlyUse(this.#tx, org_id, use)) ? null : 'monthly_quota'
  }
}

const CHARS_MAX = 500

/** Throws 400 `invalid_request` that names each path that is not valid or that occurs twice. */
export function checkArtifactPaths(items: ArtifactItem[]): void {
  const seen = new Set<string>()
  const errors = items.flatMap(({ path }, index) => {
    const mistake = findPathMistake(path) ?? (seen.has(path) ? 'occurs twice in this request' : null)
    seen.add(path)
    return mistake === null ? [] : [{ path: `/body/artifacts/${index}/path`, message: mistake }]
  })
  if (errors.length > 0) throw createInvalidFieldsError(errors)
}

/**
 * The error message for a path that is not relative, `/`-separated and 1 to 500 characters long;
 * otherwise null.
 */
export function findPathMistake(path: string): string | null {
  if (path === '' || [...path].length > CHARS_MAX) return `must have 1 to ${CHARS_MAX} characters`
  if (/\p{Cc}/u.test(path)) return 'must not contain control characters'
  if (path.includes('\\')) return 'must use / as the separator'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative'
  if (path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'must not contain an empty segment, . or ..'
  }
  return null
}
