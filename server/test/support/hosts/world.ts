import { randomUUID } from 'node:crypto'
import type { Change } from './change.ts'
import { FakeClock } from './fake-clock.ts'
import type { CommitFields } from './stories/commits.ts'
import type { Merge } from './stories/merges.ts'
import type { Account, Deployment, Ids, Job, Project, PullRequest, Repository, RuleAnswer, Run } from './types.ts'

/**
 * Everything that is at a host, in words that fit every host. Stories change it; the fake of a host
 * shows it in the host's own words, and sends webhooks for its changes.
 */
export class World {
  readonly clock: FakeClock
  readonly accounts = new Map<string, Account>()
  readonly projects: Project[] = []
  readonly repositories: Repository[] = []
  /** What our program answered for our rule, oldest first. */
  readonly ruleAnswers: RuleAnswer[] = []
  /** What the fake found wrong with requests, answers and payloads. */
  readonly violations: string[] = []
  readonly #listeners: ((change: Change) => void)[] = []
  #lastId = 1000
  #last = new Date(0)

  constructor(clock = new FakeClock()) {
    this.clock = clock
  }

  newIds(): Ids {
    this.#lastId += 1
    return { id: this.#lastId, uuid: randomUUID() }
  }

  /** Each call answers a later time, so that no two changes have the same one. */
  now(): Date {
    const now = this.clock.now().getTime()
    this.#last = new Date(Math.max(now, this.#last.getTime() + 1))
    return this.#last
  }

  /** Calls the function after each change, in order. */
  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener)
  }

  emit(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  /** An account by its login, created as a person (`name[bot]`: as a bot) if it is new. */
  account(login: string): Account {
    const type = login.endsWith('[bot]') ? 'bot' : 'person'
    return this.accounts.get(login.toLowerCase()) ?? this.addAccount({ login, type })
  }

  /** The account with this login, an organization if it is new. */
  organization(login: string): Account {
    return this.accounts.get(login.toLowerCase()) ?? this.addAccount({ login, type: 'organization' })
  }

  addAccount(fields: Pick<Account, 'login' | 'type'> & Partial<Account>): Account {
    const { login } = fields
    const email = `${login.replace('[bot]', '').toLowerCase()}@example.com`
    const own = { name: null, email, created_at: this.now() }
    const account = { ...this.newIds(), ...own, ...fields }
    this.accounts.set(login.toLowerCase(), account)
    return account
  }

  /** The account of the credentials with which our program works at the host. */
  get program(): Account {
    return this.accounts.get('shiplock-bot') ?? this.addAccount({ login: 'shiplock-bot', type: 'bot' })
  }

  /** By number, UUID (with or without braces, in any case) or whole name. Not the deleted ones. */
  repository(name: number | string): Repository | undefined {
    const wanted = bare(String(name))
    return this.repositories.find(
      (one) => !one.deleted && [String(one.id), one.uuid, fullName(one).toLowerCase()].includes(wanted),
    )
  }

  /** The repositories of an account that exist, oldest first. */
  repositoriesOf(owner: Account): Repository[] {
    return this.repositories.filter((one) => one.owner === owner && !one.deleted)
  }

  findAccount(name: number | string): Account | undefined {
    const wanted = bare(String(name))
    return [...this.accounts.values()].find(({ id, uuid, login }) =>
      [String(id), uuid, login.toLowerCase()].includes(wanted),
    )
  }

  /** The file of a pipeline definition that no test names. */
  workflowPath(name: string): string {
    return `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.yml`
  }

  /** The commit of a merge, in the host's words and by the host's committer. */
  mergeCommit({ title, head, number, author }: PullRequest, { by, method }: Merge): CommitFields {
    if (method === 'squash') return { message: title, author: author.login, committer: by }
    return { message: `Merge ${head.ref} (#${number})\n\n${title}`, author: by }
  }

  /** A job that succeeded, as a later attempt shows it. */
  takeOver(job: Job, _attempt: number): Job {
    return job
  }

  /** By number or UUID. */
  run(repository: Repository, name: number | string): Run | undefined {
    return findByName(repository.runs, name)
  }

  deployment(repository: Repository, name: number | string): Deployment | undefined {
    return findByName(jobDeployments(repository), name)
  }
}

/** The deployments that jobs made, newest first. */
export function jobDeployments({ deployments }: Repository): Deployment[] {
  return deployments.filter((one): one is Deployment => one.run !== null)
}

/** Finds an object by its number or its UUID. */
export function findByName<T extends Ids>(items: Iterable<T>, name: number | string): T | undefined {
  const wanted = bare(String(name))
  return [...items].find(({ id, uuid }) => String(id) === wanted || uuid === wanted)
}

function bare(name: string): string {
  return name.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}

/** `owner/name`, with what stands between. */
export function fullName({ owner, path, name }: Pick<Repository, 'owner' | 'path' | 'name'>): string {
  return [owner.login, ...(path === '' ? [] : [path]), name].join('/')
}
