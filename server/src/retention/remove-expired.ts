import { setTimeout as delay } from 'node:timers/promises'
import { findNextOrganization, type Organization } from '../organizations/organization.store.ts'
import { getPlan } from '../organizations/plan.ts'
import { runAlone } from '../platform/db/advisory-lock.ts'
import type { Expiry, Removal } from '../platform/db/expiring-rows.ts'
import type { Sql, Tx } from '../platform/db/sql.ts'
import { expireLinkBodies } from '../provenance/chain/expire-link-bodies.ts'
import type { Services } from '../services.ts'
import { CHANGE_RECORDS, computeExpiry, EXPIRING_SHARED, listDue } from './expiry.ts'
import { findState, updateFinishedRun, updatePassed, upsertRemoved, upsertRetentionRun } from './retention.store.ts'

type Slice = {
  /** The run ends after this time and is continued by the next slice. */
  sliceMs: number
  stopping?: AbortSignal
  /** Called after each batch. */
  onRemoved?(removed: number): void
}

/** `busy`: another process is removing. */
type SliceResult = 'finished' | 'unfinished' | 'busy'

const LOCK = 'retention'
const ROWS_AT_ONCE = 100

/**
 * Works for some time on the removal of everything that has expired in the installation. Each
 * batch is a short transaction, which also stores the figures and how far the run has come, so that
 * a run that was killed continues. Only one process removes at a time.
 */
export async function removeExpired(services: Services, slice: Slice): Promise<SliceResult> {
  let result: SliceResult = 'busy'
  await runAlone(services.sql, LOCK, async () => {
    result = await work(services, slice)
  })
  return result
}

type Work = { services: Services; pace: Pace; slice: Slice }

async function work(services: Services, slice: Slice): Promise<SliceResult> {
  const { sql, clock } = services
  const running: Work = { services, pace: new Pace(slice.sliceMs, slice.stopping), slice }
  await upsertRetentionRun(sql, clock.now())
  try {
    for (let next = await findNext(sql); next !== null; next = await findNext(sql)) {
      const plan = getPlan(next, services.plans)
      await removeExpiredRows(running, computeExpiry(next.id, plan, clock.now()))
      await updatePassed(sql, next.id)
    }
    const at = clock.now()
    for (const { kind, remove } of EXPIRING_SHARED)
      await removeKind(running, kind, async (tx) => ({ removed: await remove(tx, at, ROWS_AT_ONCE), last: null }))
  } catch (error) {
    if (error instanceof SliceOver) return 'unfinished'
    throw error
  }
  await updateFinishedRun(sql, clock.now())
  return 'finished'
}

/** The next organization of the run. */
async function findNext(sql: Sql): Promise<Organization | null> {
  const state = await findState(sql)
  return findNextOrganization(sql, state?.passed ?? null)
}

async function removeExpiredRows(running: Work, expiry: Expiry): Promise<void> {
  for (const { expiring, expiry: own } of listDue(expiry, running.services.config.auditRetentionDays))
    await removeKind(running, expiring.kind, (tx, from) => expiring.remove(tx, { ...own, limit: ROWS_AT_ONCE, from }))
  await removeBodies(running, expiry)
}

type RemoveBatch = (tx: Tx, from: Removal['last']) => Promise<Removal>

async function removeKind({ services, pace, slice }: Work, kind: string, removeBatch: RemoveBatch): Promise<void> {
  let from: Removal['last'] = null
  for (let removed = ROWS_AT_ONCE; removed === ROWS_AT_ONCE; ) {
    const removal = await services.sql.begin(async (tx) => {
      const done = await removeBatch(tx, from)
      if (done.removed > 0) await upsertRemoved(tx, kind, done.removed)
      return done
    })
    removed = removal.removed
    from = removal.last
    slice.onRemoved?.(removed)
    await pace.rest()
  }
}

/** Bodies of change records are replaced by tombstones; see `expireLinkBodies`. */
async function removeBodies({ services, pace, slice }: Work, { org_id, before }: Expiry): Promise<void> {
  await expireLinkBodies(services, {
    org_id,
    since: before,
    note: (tx, removed) => upsertRemoved(tx, CHANGE_RECORDS, removed),
    async rest() {
      await pace.rest()
    },
  })
  slice.onRemoved?.(0)
}

/** Thrown when the time of a slice of a retention run is over. The run is unfinished. */
class SliceOver extends Error {}

/** A run rests for four times as long as it worked: it takes a fifth of one connection's time. */
const REST_PER_WORK = 4

/** Divides a run into batches with pauses, and ends it after some time. */
export class Pace {
  readonly #endsAtMs: number
  readonly #stopping: AbortSignal | undefined
  #workedSinceMs = performance.now()

  constructor(sliceMs: number, stopping: AbortSignal | undefined) {
    this.#endsAtMs = performance.now() + sliceMs
    this.#stopping = stopping
  }

  /** Pauses after a batch. Throws `SliceOver`, or the reason why the worker stops. */
  async rest(): Promise<void> {
    const workedMs = performance.now() - this.#workedSinceMs
    const pause = { signal: this.#stopping } as { signal: AbortSignal }
    await delay(workedMs * REST_PER_WORK, undefined, this.#stopping ? pause : {})
    this.#workedSinceMs = performance.now()
    if (this.#workedSinceMs >= this.#endsAtMs) throw new SliceOver()
  }
}
