import type { Provider } from '../repositories/repository-identity.ts'
import type { HostAlertName } from './host-alert.ts'

const PREFIXES: Record<Provider, string> = { github: 'gh', gitlab: 'gl', bitbucket: 'bb', azure: 'az' }

/** The id under which we keep a run of a code host. */
export function hostRunId(provider: Provider, runId: string): string {
  return `${PREFIXES[provider]}_run_${runId}`
}

/** The id under which we keep a deployment of a code host. */
export function hostDeploymentId(provider: Provider, deploymentId: string): string {
  return `${PREFIXES[provider]}_deployment_${deploymentId}`
}

/** The id under which we keep an alert of a code host, which numbers it within its repository. */
export function hostAlertId(provider: Provider, repositoryId: string, { type, number }: HostAlertName): string {
  return `${PREFIXES[provider]}_alert_${type}_${repositoryId}_${number}`
}
