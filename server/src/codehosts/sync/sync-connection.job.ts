import { insertAuditEntry, type Principal } from '../../audit/audit.store.ts'
import { notActive } from '../../errors/codehosts.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createInvalidIdError, createNotFoundError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { lazy } from '../../platform/lazy.ts'
import { defineJob, defineScheduledJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { definePayload, Optional, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { findConnection } from '../connections/connection.store.ts'
import { listActiveConnections, listDueSyncs, type QueuedSync, type SyncScope, upsertRequest } from './sync.store.ts'

/** Works on the synchronization of a connection. */
export const syncJob = defineJob('codehosts.synchronize', {
  waitsFor: ({ provider, connection_id }) => formatLoneParty(provider ?? connection_id),
  class: 'bulk',
  payload: definePayload({ org_id: text, connection_id: text, provider: Optional(text) }),
  attemptsMax: 5,
  once: ({ connection_id }) => connection_id,
  run: lazy(async () => (await import('./synchronize-connection.ts')).synchronizeConnection),
  updates: () => [update('code_host'), update('repository')],
})

/** Code hosts keep runs for 400 days at most. */
const SINCE_MS_MAX = 400 * DAY_MS

/**
 * Requests a synchronization of a connection. If one is in progress, another one follows. With
 * `since`, lists are read again back to this time, at most 400 days; otherwise, only what has
 * changed is read.
 */
export async function enqueueSync(db: Db, scope: QueuedSync, now: Date, since: Date | null = null): Promise<void> {
  const earliest = now.getTime() - SINCE_MS_MAX
  await upsertRequest(db, scope, since && new Date(Math.max(since.getTime(), earliest)), now)
  await enqueue(db, syncJob, scope)
}

/**
 * A connection to synchronize; of the organization if one is given. `since` is as in `enqueueSync`.
 */
type AskedSync = { id: string; org_id?: string; since: Date | null }

/**
 * Requests a synchronization of an active connection. Throws 400, 404, and 409 `not_active`.
 * Returns
 * the organization of the connection.
 */
export async function synchronizeNow(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  { id, org_id, since }: AskedSync,
  principal: Principal,
): Promise<string> {
  if (!isUuid(id)) throw createInvalidIdError(id, 'connection')
  const connection = await findConnection(sql, id)
  if (connection === null || (org_id !== undefined && connection.org_id !== org_id))
    throw createNotFoundError('connection')
  if (connection.status !== 'active') throw notActive(id, connection.status)
  const now = clock.now()
  const object = { type: 'connection', id }
  const entry = { principal, action: 'connection.sync', object, reason: null, details: { since } }
  await sql.begin(async (tx) => {
    const { org_id, provider } = connection
    await enqueueSync(tx, { org_id, connection_id: id, provider }, now, since)
    await insertAuditEntry(tx, connection.org_id, entry, now)
  })
  return connection.org_id
}

/** Subscribes to `connectionMade`. */
export async function followConnectionMade({ sql, clock }: Services, scope: SyncScope): Promise<void> {
  const { org_id, connection_id } = scope
  const { provider } = (await findConnection(sql, connection_id)) ?? {}
  await sql.begin((tx) => enqueueSync(tx, { org_id, connection_id, ...(provider && { provider }) }, clock.now()))
}

/** Requests a synchronization of every active connection, when a worker starts. */
export async function enqueueAllSyncs({ sql, clock }: Pick<Services, 'sql' | 'clock'>): Promise<void> {
  for (const scope of await listActiveConnections(sql)) {
    await sql.begin((tx) => enqueueSync(tx, scope, clock.now()))
  }
}

/** Queues every synchronization that is due: an hour after the last one, or after a pause. */
export const startDueSyncs = defineScheduledJob<Services>('codehosts.start-due-syncs', {
  schedule: '* * * * *',
  async run({ sql, clock }) {
    for (const scope of await listDueSyncs(sql, clock.now())) await enqueue(sql, syncJob, scope)
  },
})
