import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice } from '../../list/search-params.ts'
import { DELIVERY_STATUSES, isRunning } from './connection.ts'

/** The events of a synchronization tell its end. Its progress is asked for. */
const PROGRESS_MS = 2000
export const DeliverySearch = v.object({ status: choice(DELIVERY_STATUSES) })

/** The connections to code hosts. */
export function connectionsQuery(org: string) {
  return api.queryOptions(
    'get',
    '/app/api/orgs/{org}/code-hosts',
    { params: { path: { org } } },
    { refetchInterval: ({ state }) => (state.data?.data.some(isRunning) ? PROGRESS_MS : false) },
  )
}

/** The webhooks that match the filter, newest first. */
export function deliveriesQuery(org: string, search: v.InferOutput<typeof DeliverySearch>) {
  return listQuery('/app/api/orgs/{org}/code-hosts/deliveries', { path: { org }, query: { ...search, limit: 50 } })
}

export function deliveryQuery(org: string, id: string) {
  return api.queryOptions('get', '/app/api/orgs/{org}/code-hosts/deliveries/{delivery}', {
    params: { path: { org, delivery: id } },
  })
}
