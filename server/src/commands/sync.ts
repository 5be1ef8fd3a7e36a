import { setTimeout as delay } from 'node:timers/promises'
import { findConnection } from '../codehosts/connections/connection.store.ts'
import { type ListedConnection, listConnections } from '../codehosts/connections/connection-list.store.ts'
import { requestSync } from '../codehosts/sync/request-sync.ts'
import { findTiming } from '../codehosts/sync/sync.store.ts'
import { ApiError, invalidId, notFound } from '../platform/http/errors.ts'
import { isUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { administer } from './administer.ts'
import { type Context, defineCommand, parseDuration } from './command.ts'
import { ProgressBar } from './progress-bar.ts'

const LOOK_EVERY_MS = 500

export const providerSync = defineCommand({
  name: 'provider sync',
  about:
    'Synchronizes a connection with its code host. A running worker does it, once it is done with a synchronization in progress.',
  arguments: ['id'],
  options: {
    since: {
      type: 'text',
      value: '30d',
      about: 'read everything again that is at most this old, up to 400d (default: only what has changed)',
    },
    wait: { type: 'flag', value: '', about: 'wait for the end and show the progress' },
  },
  async run(context, { id: given }, { since, wait }) {
    const id = given.toLowerCase()
    const sinceMs = since === undefined ? null : parseDuration('since', since)
    const connection = await administer(context, async (services) => {
      const { org_id } = await requireActive(services, id)
      const now = services.clock.now()
      const oldest = sinceMs === null ? null : new Date(now.getTime() - sinceMs)
      await services.sql.begin((tx) => requestSync(tx, { org_id, connection_id: id }, now, oldest))
      if (wait) await untilEnd(services, org_id, id, context)
      return readListed(services, org_id, id)
    })
    const account = connection.account?.login
    const text = wait ? `Synchronized ${account} (${id})` : `Queued a synchronization of ${account} (${id})`
    context.print({
      json: connection,
      text: connection.sync.error && wait ? `${text}\n${connection.sync.error}` : text,
    })
  },
})

async function requireActive({ sql }: Services, id: string): Promise<{ org_id: string }> {
  if (!isUuid(id)) throw invalidId(id, 'connection')
  const connection = await findConnection(sql, id)
  if (connection === null) throw notFound('connection')
  if (connection.status !== 'active')
    throw new ApiError(409, 'not_active', `The connection ${id} is ${connection.status}`)
  return connection
}

/** Throws when the synchronization fails. It is tried again later. */
async function untilEnd(services: Services, orgId: string, id: string, { say }: Pick<Context, 'say'>): Promise<void> {
  const progress = new ProgressBar(say)
  try {
    while ((await findTiming(services.sql, id))?.is_open) {
      const { sync } = await readListed(services, orgId, id)
      if (sync.state === 'failed') throw new Error(`The synchronization failed and is tried again later: ${sync.error}`)
      if (sync.done !== null && sync.total !== null) progress.reach(sync.done, sync.total, 'repositories')
      await delay(LOOK_EVERY_MS)
    }
  } finally {
    progress.end()
  }
}

async function readListed({ sql }: Services, orgId: string, id: string): Promise<ListedConnection> {
  const listed = await listConnections(sql, orgId)
  const found = listed.find(({ connection }) => connection.id === id)
  if (found === undefined) throw notFound('connection')
  return found.connection
}
