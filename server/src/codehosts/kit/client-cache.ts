import type { HostClient } from '../code-host.ts'

const CLIENTS_MAX = 1000

/**
 * The clients that were used last. They keep their tokens and what they have learned of their host.
 */
export class ClientCache {
  readonly #clients = new Map<string, HostClient>()

  /** The client with this key, which is opened if it is new. */
  get(key: string, open: () => HostClient): HostClient {
    const client = this.#clients.get(key) ?? open()
    this.#clients.delete(key)
    this.#clients.set(key, client)
    const [oldest] = this.#clients.keys()
    if (oldest !== undefined && this.#clients.size > CLIENTS_MAX) this.#clients.delete(oldest)
    return client
  }
}

/** Identifies a client of a connection. */
export function formatClientKey(access: { id: string; installation_id: string; impatient?: boolean }): string {
  return JSON.stringify([access.id, access.installation_id, access.impatient ?? false])
}
