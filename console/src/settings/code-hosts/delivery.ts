import type { paths } from '../../api/schema.ts'

export const DELIVERIES_PATH = '/app/api/orgs/{org}/code-hosts/deliveries'
export const DELIVERY_PATH = '/app/api/orgs/{org}/code-hosts/deliveries/{delivery}'

export type Delivery = paths[typeof DELIVERY_PATH]['get']['responses'][200]['content']['application/json']['data']

export const DELIVERY_STATUSES = ['received', 'applied', 'ignored', 'failed'] as const

/** `workflow_run · completed` */
export function eventText({ event, action }: Pick<Delivery, 'event' | 'action'>): string {
  return action === null ? event : `${event} · ${action}`
}

/** What came of a delivery, in a sentence. */
export function outcomeText({ status, waiting, attempts, error }: Delivery): string {
  const tries = attempts === 1 ? 'one try' : `${attempts} tries`
  if (waiting) return 'It waits until its installation is connected.'
  if (status === 'received')
    return error ? `It is tried again. The last try failed: ${error}` : 'It is about to be applied.'
  if (status === 'failed') return `It failed after ${tries}: ${error ?? 'no reason is known'}`
  if (status === 'ignored') return error ?? 'It contains nothing that is recorded.'
  return `It was applied after ${tries}.`
}
