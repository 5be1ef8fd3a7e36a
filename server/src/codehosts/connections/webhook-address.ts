import type { ConnectionName } from './connection.store.ts'

/** Where a host sends the events of a connection that has webhooks of its own. */
export function formatWebhookAddress(
  baseUrl: string,
  { provider, id }: Pick<ConnectionName, 'provider' | 'id'>,
): string {
  return `${baseUrl}/webhooks/${provider}/${id}`
}
