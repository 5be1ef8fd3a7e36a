import { FakeClock } from '../hosts/fake-clock.ts'
import type { Account, App, BulkSizes, Installation, Repository } from './types.ts'

/** Everything that the fake GitHub knows, apart from the deliveries. */
export class State {
  /** GitHub's times are whole seconds. */
  readonly clock = new FakeClock(1000)
  readonly accounts = new Map<string, Account>()
  readonly installations = new Map<number, Installation>()
  readonly repositories = new Map<number, Repository>()
  /** What the manifest flow creates, by code. */
  readonly manifestCodes = new Map<string, object>()
  readonly app: App
  /** Repositories that are computed when they are read, for benchmarks. */
  bulk: { installation: Installation; sizes: BulkSizes; repository(id: number): Repository | undefined } | null = null
  #lastId = 1000

  constructor(app: App) {
    this.app = app
  }

  newId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** An account by its login, created as a person if it is new. */
  account(login: string): Account {
    const known = this.accounts.get(login.toLowerCase())
    if (known !== undefined) return known
    return this.addAccount({ login, type: login.endsWith('[bot]') ? 'Bot' : 'User' })
  }

  addAccount(fields: Pick<Account, 'login' | 'type'> & Partial<Account>): Account {
    const account = { id: this.newId(), name: null, email: null, created_at: this.clock.now(), ...fields }
    this.accounts.set(account.login.toLowerCase(), account)
    return account
  }

  repositoryOfId(id: number): Repository | undefined {
    const repository = this.repositories.get(id) ?? this.bulk?.repository(id)
    return repository?.deleted ? undefined : repository
  }

  /** `moved`: the name is an earlier one of the repository. */
  findRepository(owner: string, name: string): { repository: Repository; moved: boolean } | undefined {
    const wanted = `${owner}/${name}`.toLowerCase()
    const all = [...this.repositories.values()].filter(({ deleted }) => !deleted)
    const current = all.find((repository) => fullName(repository).toLowerCase() === wanted)
    if (current !== undefined) return { repository: current, moved: false }
    const earlier = all.find(({ formerNames }) => formerNames.some((former) => former.toLowerCase() === wanted))
    if (earlier !== undefined) return { repository: earlier, moved: true }
    const bulk =
      owner === this.bulk?.installation.account.login ? Number(/^repository-(\d+)$/.exec(name)?.[1]) : Number.NaN
    const computed = this.bulk?.repository(bulk)
    return computed === undefined ? undefined : { repository: computed, moved: false }
  }

  /** The installation of the App that may read a repository. */
  installationOf(repository: Repository): Installation | undefined {
    return [...this.installations.values()].find((installation) => installation.covers(repository))
  }
}

export function fullName(repository: Pick<Repository, 'owner' | 'name'>): string {
  return `${repository.owner.login}/${repository.name}`
}
