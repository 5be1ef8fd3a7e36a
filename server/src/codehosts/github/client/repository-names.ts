import { HostRefusal, type RepositoryName } from '../../code-host.ts'

const RENAMES_MAX = 1000
const RENAME_AGE_MS_MAX = 5 * 60_000

/**
 * GitHub's routes name repositories, and a name that we know may be out of date. GitHub redirects
 * requests for old names until another repository takes the name; without a redirect the new name
 * is looked up by the id.
 */
export class RepositoryNames {
  readonly #read: (id: string) => Promise<unknown>
  readonly #now: () => Date
  /** New names by id and old name. A null name: the lookup gave no other name. */
  readonly #renames = new Map<string, { name: string | null; at: number }>()

  constructor(read: (id: string) => Promise<unknown>, now: () => Date) {
    this.#read = read
    this.#now = now
  }

  /** Sends a request with the name of its repository, and repeats it after a rename. */
  async send<Result>(
    { repository, ...parameters }: { repository?: RepositoryName } & Record<string, unknown>,
    request: (named: Record<string, unknown>) => Promise<Result>,
  ): Promise<Result> {
    if (repository === undefined) return request(parameters)
    const known = this.#renames.get(keyOf(repository))?.name
    try {
      return await request({ ...parameters, ...splitName(known ?? repository.full_name) })
    } catch (error) {
      if (!(error instanceof HostRefusal) || error.status !== 404) throw error
      const name = await this.#findName(repository)
      if (name === null || name === known) throw error
      return request({ ...parameters, ...splitName(name) })
    }
  }

  /** Asks at most once in five minutes, because most missing objects have another cause. */
  async #findName(repository: RepositoryName): Promise<string | null> {
    const found = this.#renames.get(keyOf(repository))
    const now = this.#now().getTime()
    if (found && now - found.at < RENAME_AGE_MS_MAX) return found.name
    const current = (await this.#read(repository.id)) as { full_name?: unknown } | null
    const fullName = typeof current?.full_name === 'string' ? current.full_name : null
    const name = fullName === repository.full_name ? null : fullName
    this.#remember(keyOf(repository), { name, at: now })
    return name
  }

  #remember(key: string, rename: { name: string | null; at: number }): void {
    const [oldest] = this.#renames.keys()
    if (oldest !== undefined && this.#renames.size >= RENAMES_MAX) this.#renames.delete(oldest)
    this.#renames.set(key, rename)
  }
}

function keyOf({ id, full_name }: RepositoryName): string {
  return `${id}/${full_name}`
}

function splitName(fullName: string): { owner: string; repo: string } {
  const slash = fullName.indexOf('/')
  return { owner: fullName.slice(0, slash), repo: fullName.slice(slash + 1) }
}
