import { getCodeHost, type Provider } from './catalogue.ts'
import type { HostAlertName } from './host-alert.ts'

/** The id under which we keep an alert of a code host, which numbers it within its repository. */
export function formatHostAlertId(provider: Provider, repositoryId: string, { type, number }: HostAlertName): string {
  return `${getCodeHost(provider).idPrefix}_alert_${type}_${repositoryId}_${number}`
}
