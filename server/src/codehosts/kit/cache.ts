import type { Clock } from '../../platform/clock.ts'
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

type Options<Value> = {
  read(key: string): Promise<Value>
  clock: Clock
  ageMsMax: number
}

const SIZE_MAX = 2000

/**
 * Values that change rarely, by key. Each is read again when it is too old. Failures are not kept.
 */
export class Remembered<Value> {
  readonly #options: Options<Value>
  readonly #known = new Map<string, { value: Promise<Value>; at: number }>()

  constructor(options: Options<Value>) {
    this.#options = options
  }

  get(key: string): Promise<Value> {
    const { clock, ageMsMax, read } = this.#options
    const at = clock.now().getTime()
    const known = this.#known.get(key)
    if (known !== undefined && at - known.at < ageMsMax) return known.value
    const value = read(key)
    this.#keep(key, { value, at })
    value.catch(() => this.#known.delete(key))
    return value
  }

  #keep(key: string, entry: { value: Promise<Value>; at: number }): void {
    this.#known.delete(key)
    this.#known.set(key, entry)
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size > SIZE_MAX) this.#known.delete(oldest)
  }
}
