import type { DeliveryTry } from '../../hosts/deliveries.ts'
import { found, HttpError } from '../../hosts/http-error.ts'
import { ok } from '../../hosts/rest-request.ts'
import type { OperationName } from '../described.ts'
import { cursorList } from '../pagination.ts'
import type { GitHubRequest, Handler } from '../request.ts'
import type { Delivery } from '../webhooks/deliveries.ts'

const KEPT_MS = 3 * 24 * 60 * 60 * 1000

/**
 * The deliveries of the App's webhooks: every try is listed under an id of its own. Those of the past
 * three days can be sent again, which GitHub never does by itself
 * (https://docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
 */
export const deliveryRoutes = {
  'GET /app/hook/deliveries': (request) => {
    requireApp(request)
    const status = request.query.get('status')
    const tries = triesOf(request).filter(({ tried }) => status === null || isFailure(tried) === (status === 'failure'))
    return cursorList(request, tries, { parameter: 'cursor', show: ({ delivery, tried }) => item(delivery, tried) })
  },
  'GET /app/hook/deliveries/{delivery_id}': (request) => {
    const { delivery, tried } = tryOf(request)
    const headers = request.world.deliveries.headersOf(delivery)
    const sent = { headers, payload: delivery.payload }
    return ok({ ...item(delivery, tried), request: sent, response: { headers: {}, payload: '' } })
  },
  'POST /app/hook/deliveries/{delivery_id}/attempts': (request) => {
    request.world.deliveries.send(tryOf(request).delivery, true)
    return { status: 202, body: {} }
  },
} satisfies Partial<Record<OperationName, Handler>>

function requireApp({ caller }: GitHubRequest): void {
  if (caller.type !== 'app') throw new HttpError(401, 'A JSON web token could not be decoded')
}

/** The tries of the past three days, newest first. */
function triesOf({ world }: GitHubRequest): { delivery: Delivery; tried: DeliveryTry }[] {
  const since = world.clock.now().getTime() - KEPT_MS
  return world.deliveries.all
    .flatMap((delivery) => delivery.tries.map((tried) => ({ delivery, tried })))
    .filter(({ tried }) => tried.at.getTime() >= since)
    .sort((one, other) => other.tried.id - one.tried.id)
}

function tryOf(request: GitHubRequest): { delivery: Delivery; tried: DeliveryTry } {
  requireApp(request)
  const id = request.number('delivery_id')
  return found(triesOf(request).find(({ tried }) => tried.id === id))
}

function isFailure({ statusCode }: DeliveryTry): boolean {
  return statusCode < 200 || statusCode >= 400
}

function item(delivery: Delivery, tried: DeliveryTry) {
  const { guid, event, action, installation_id, repository_id } = delivery
  return {
    id: tried.id,
    guid,
    delivered_at: tried.at,
    redelivery: tried.redelivery,
    duration: 0.27,
    status: tried.status,
    status_code: tried.statusCode,
    event,
    action,
    installation_id,
    repository_id,
    throttled_at: null,
  }
}
