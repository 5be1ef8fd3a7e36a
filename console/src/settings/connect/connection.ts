import type { paths } from '../../api/schema.ts'

export const CODE_HOSTS_PATH = '/app/api/orgs/{org}/code-hosts'
export const CODE_HOST_PATH = '/app/api/orgs/{org}/code-hosts/{id}'
export const WAITING_PATH = '/app/api/orgs/{org}/code-hosts/waiting'
export const SETUP_PATH = '/app/api/orgs/{org}/code-hosts/setup'

const PHASES: Record<string, string> = {
  deliveries: 'Looking for missed events',
  repositories: 'Listing repositories',
  objects: 'Reading runs, deployments and alerts',
}

export const DELIVERY_PATH = '/app/api/orgs/{org}/code-hosts/deliveries/{delivery}'
export const DELIVERY_STATUSES = ['received', 'applied', 'ignored', 'failed'] as const

export type Connection = paths[typeof CODE_HOST_PATH]['get']['responses'][200]['content']['application/json']['data']

type Waiting = paths[typeof WAITING_PATH]['get']['responses'][200]['content']['application/json']['data']

export type WaitingInstallation = Waiting[number]

/** What a synchronization does now, in words. */
export function phaseText(phase: string | null): string {
  return (phase !== null && PHASES[phase]) || 'Synchronizing'
}

/** Whether the connection is being synchronized. */
export function isRunning({ sync }: Connection): boolean {
  return sync.state === 'running'
}

export type Delivery = paths[typeof DELIVERY_PATH]['get']['responses'][200]['content']['application/json']['data']

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
