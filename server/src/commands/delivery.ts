import { requireChoice } from '@shiplock/command-line/options'
import { COMMAND_LINE } from '../audit/audit.store.ts'
import { type ListedDelivery, listDeliveries } from '../codehosts/deliveries/delivery.store.ts'
import { DELIVERY_STATUSES } from '../codehosts/deliveries/delivery.ts'
import { replayDelivery } from '../codehosts/deliveries/replay-delivery.ts'
import { withServices } from './administer.ts'
import { defineCommand, requireLimit } from './command.ts'
import { formatTable } from './table.ts'

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
      json: deliveries.map(toJson),
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

function toJson({ installation_id: installation, ...delivery }: ListedDelivery) {
  return { ...delivery, installation }
}
