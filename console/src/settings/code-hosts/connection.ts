import type { paths } from '../../api/schema.ts'

export const CODE_HOSTS_PATH = '/app/api/orgs/{org}/code-hosts'
export const CODE_HOST_PATH = '/app/api/orgs/{org}/code-hosts/{id}'
export const WAITING_PATH = '/app/api/orgs/{org}/code-hosts/waiting'
export const SETUP_PATH = '/app/api/orgs/{org}/code-hosts/setup'

export type Connection = paths[typeof CODE_HOST_PATH]['get']['responses'][200]['content']['application/json']['data']
type Waiting = paths[typeof WAITING_PATH]['get']['responses'][200]['content']['application/json']['data']
export type WaitingInstallation = Waiting[number]

const PHASES: Record<string, string> = {
  deliveries: 'Looking for missed events',
  repositories: 'Listing repositories',
  objects: 'Reading runs, deployments and alerts',
}

/** What a synchronization does now, in words. */
export function phaseText(phase: string | null): string {
  return (phase !== null && PHASES[phase]) || 'Synchronizing'
}

/** Whether the connection is being synchronized. */
export function isRunning({ sync }: Connection): boolean {
  return sync.state === 'running'
}
