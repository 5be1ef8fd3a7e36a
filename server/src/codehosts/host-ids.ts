import { codeHost, type Provider } from './catalogue.ts'
import type { HostAlertName } from './host-alert.ts'

/** The id under which we keep a run of a code host. */
export function hostRunId(provider: Provider, runId: string): string {
  return `${codeHost(provider).idPrefix}_run_${runId}`
}

/** The id under which we keep a deployment of a code host. */
export function hostDeploymentId(provider: Provider, deploymentId: string): string {
  return `${codeHost(provider).idPrefix}_deployment_${deploymentId}`
}

/** The id under which we keep an alert of a code host, which numbers it within its repository. */
export function hostAlertId(provider: Provider, repositoryId: string, { type, number }: HostAlertName): string {
  return `${codeHost(provider).idPrefix}_alert_${type}_${repositoryId}_${number}`
}
