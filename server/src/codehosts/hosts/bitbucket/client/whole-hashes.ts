import { Type } from 'typebox'
import { mapSideBySide } from '../../../../platform/side-by-side.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { readAs, Text } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { BitbucketApi } from '../client.ts'

const HASH_CHARS = 40
const KNOWN_MAX = 10_000
const READS_AT_ONCE = 4

const Found = Type.Object({ hash: Text })

/**
 * Pull requests name commits by the first twelve characters of their hashes. The whole ones are
 * looked up, and kept, because they never change.
 */
export class WholeHashes {
  readonly #api: BitbucketApi
  readonly #known = new Map<string, string>()

  constructor(api: BitbucketApi) {
    this.#api = api
  }

  /** The whole hash of each; a hash whose commit cannot be read stays as it is. */
  async of(repository: HostRepository, hashes: readonly string[]): Promise<(hash: string) => string> {
    const unknown = new Set(hashes.filter((hash) => hash.length < HASH_CHARS && !this.#known.has(hash)))
    await mapSideBySide([...unknown], READS_AT_ONCE, (hash) => this.#look(repository, hash))
    return (hash) => this.#known.get(hash) ?? hash
  }

  async #look(repository: HostRepository, hash: string): Promise<void> {
    const path = this.#api.pathOf(repository, restPath`/commit/${hash}`)
    const found = await this.#api.read(path, { fields: 'hash' })
    const whole = found && this.#api.parseItem(found, (value) => readAs(Found, value).hash)
    if (whole?.startsWith(hash)) this.#remember(hash, whole)
  }

  #remember(hash: string, whole: string): void {
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= KNOWN_MAX) this.#known.delete(oldest)
    this.#known.set(hash, whole)
  }
}
