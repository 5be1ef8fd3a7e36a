import { setTimeout as delay } from 'node:timers/promises'
import { requireChoice } from '@shiplock/command-line/options'
import { COMMAND_LINE } from '../audit/audit.store.ts'
import { findListed, type ListedConnection } from '../codehosts/connections/connection-list.store.ts'
import { type ListedDelivery, listDeliveries } from '../codehosts/deliveries/delivery.store.ts'
import { DELIVERY_STATUSES } from '../codehosts/deliveries/delivery.ts'
import { replayDelivery } from '../codehosts/deliveries/delivery-intake.ts'
import { findTiming } from '../codehosts/sync/sync.store.ts'
import { synchronizeNow } from '../codehosts/sync/sync-connection.job.ts'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { Services } from '../services.ts'
import { ProgressBar } from '../start/terminal.ts'
import { type Context, defineCommand, formatTable, parseDuration, requireLimit } from './command.ts'
import { withServices } from './with-services.ts'

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
    const connection = await withServices(context, async (services) => {
      const oldest = sinceMs === null ? null : new Date(services.clock.now().getTime() - sinceMs)
      const org_id = await synchronizeNow(services, { id, since: oldest }, COMMAND_LINE)
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

/** Throws when the synchronization fails. It is tried again later. */
async function untilEnd(services: Services, orgId: string, id: string, { say }: Pick<Context, 'say'>): Promise<void> {
  const progress = new ProgressBar(say)
  try {
    for (;;) {
      const timing = await findTiming(services.sql, id)
      if (!timing?.is_open) return
      const { sync } = await readListed(services, orgId, id)
      // A failure from before the request is still shown until the next try begins.
      const isPaused = timing.due_at > services.clock.now()
      if (sync.state === 'failed' && isPaused)
        throw new Error(`The synchronization failed and is tried again later: ${sync.error}`)
      if (sync.done !== null && sync.total !== null) progress.reach(sync.done, sync.total, 'repositories')
      await delay(LOOK_EVERY_MS)
    }
  } finally {
    progress.end()
  }
}

async function readListed({ sql }: Services, orgId: string, id: string): Promise<ListedConnection> {
  const found = await findListed(sql, orgId, id)
  if (found === null) throw createNotFoundError('connection')
  return found
}

const LIMIT = 50
const LIMIT_MAX = 1000
const HEADING = ['ID', 'EVENT', 'ACTION', 'STATUS', 'ATTEMPTS', 'RECEIVED AT', 'ERROR']

export const providerDeliveries = defineCommand({
  name: 'provider deliveries',
  about: 'Lists the webhook deliveries of code hosts, newest first.',
  arguments: [],
  options: {
    status: { type: 'text', value: DELIVERY_STATUSES.join('|'), about: 'only deliveries with this status' },
    limit: { type: 'text', value: 'N', about: `how many to list, at most ${LIMIT_MAX} (default: ${LIMIT})` },
  },
  async run(context, _given, { status, limit = `${LIMIT}` }) {
    const wanted = status === undefined ? null : requireChoice('status', status, DELIVERY_STATUSES)
    const max = requireLimit(limit, LIMIT_MAX)
    const deliveries = await withServices(context, ({ sql }) => listDeliveries(sql, wanted, max))
    context.print({
      json: deliveries.map(({ installation_id: installation, ...delivery }) => ({ ...delivery, installation })),
      text: formatTable(HEADING, deliveries.map(toRow), 'There are no deliveries.'),
    })
  },
})

export const providerReplay = defineCommand({
  name: 'provider replay',
  about:
    'Applies a webhook delivery again that was applied, ignored or failed. A running worker applies it. Payloads are kept for 14 days.',
  arguments: ['delivery'],
  options: {},
  async run(context, { delivery }) {
    await withServices(context, (services) => replayDelivery(services, { id: delivery }, COMMAND_LINE))
    context.print({ json: { id: delivery, status: 'received' }, text: `Queued the delivery ${delivery}` })
  },
})

function toRow({ id, event, action, status, waiting, attempts, received_at, error }: ListedDelivery): string[] {
  const shown = waiting ? 'waiting' : status
  return [id, event, action ?? '-', shown, `${attempts}`, received_at.toISOString(), error ?? '-']
}
