import { FakeClock } from '../hosts/fake-clock.ts'
import type { CommitFields } from '../hosts/stories/commits.ts'
import type { Merge } from '../hosts/stories/merges.ts'
import type { Account, Job, PullRequest, Repository } from '../hosts/types.ts'
import { World } from '../hosts/world.ts'
import { payloadViolations } from './description.ts'
import { simpleInstallation, simpleOrganization, simpleUser } from './objects/accounts.ts'
import { wholeRepository } from './objects/repository.ts'
import type { Urls } from './objects/urls.ts'
import type { App, BulkSizes, Installation } from './types.ts'
import { AppDeliveries, type Delivery } from './webhooks/deliveries.ts'

export type NewEvent = {
  event: string
  action: string | null
  sender: Account
  fields: Record<string, unknown>
}

/** What GitHub has besides: our App, its installations and its webhooks. */
export class GitHubWorld extends World implements Urls {
  readonly installations = new Map<number, Installation>()
  /** What the manifest flow creates, by code. */
  readonly manifestCodes = new Map<string, object>()
  readonly app: App
  readonly deliveries: AppDeliveries
  /** Repositories that GitHub took down, with the status of its answers. */
  readonly blocked = new Map<Repository, 403 | 451>()
  readonly api: string
  readonly html: string
  /** Whether payloads, requests and answers are checked. */
  readonly checked: boolean
  /** Repositories that are computed when they are read, for benchmarks. */
  bulk: { installation: Installation; sizes: BulkSizes; repository(id: number): Repository | undefined } | null = null

  constructor(app: App, options: Urls & { webhookUrl: string | null; checked: boolean }) {
    // GitHub's times are whole seconds.
    super(new FakeClock(1000))
    this.app = app
    this.accounts.set(app.owner.login, app.owner)
    this.deliveries = new AppDeliveries(this, options.webhookUrl)
    this.api = options.api
    this.html = options.html
    this.checked = options.checked
  }

  override now(): Date {
    return this.clock.now()
  }

  override workflowPath(name: string): string {
    return `.github/workflows/${super.workflowPath(name)}`
  }

  /** GitHub commits and signs what is merged on its pages, except rebased commits. */
  override mergeCommit(pullRequest: PullRequest, { by, method }: Merge): CommitFields {
    const { title, number, author, repository, head } = pullRequest
    const signed = { committer: this.#webFlow().login, signature: 'valid' }
    if (method === 'squash') return { message: `${title} (#${number})`, author: author.login, ...signed }
    const message = `Merge pull request #${number} from ${repository.owner.login}/${head.ref}\n\n${title}`
    return { message, author: by, ...signed }
  }

  #webFlow(): Account {
    const fields = { id: 19864447, name: 'GitHub', email: 'noreply@github.com' }
    return this.accounts.get('web-flow') ?? this.addAccount({ login: 'web-flow', type: 'person', ...fields })
  }

  /** Each attempt has jobs of its own. */
  override takeOver(job: Job, attempt: number): Job {
    return { ...job, ...this.newIds(), attempt }
  }

  /** Our App acts as an account of its own. */
  override get program(): Account {
    return this.account(`${this.app.slug}[bot]`)
  }

  repositoryOfId(id: number): Repository | undefined {
    return this.repository(id) ?? this.bulk?.repository(id)
  }

  /** `moved`: the name is an earlier one of the repository. */
  findRepository(owner: string, name: string): { repository: Repository; moved: boolean } | undefined {
    const wanted = `${owner}/${name}`.toLowerCase()
    const current = this.repository(wanted) ?? this.#bulkRepository(owner, name)
    if (current !== undefined) return { repository: current, moved: false }
    const earlier = this.repositories.find(
      ({ deleted, formerNames }) => !deleted && formerNames.some((former) => former.toLowerCase() === wanted),
    )
    return earlier === undefined ? undefined : { repository: earlier, moved: true }
  }

  #bulkRepository(owner: string, name: string): Repository | undefined {
    if (owner !== this.bulk?.installation.account.login) return undefined
    return this.bulk.repository(Number(/^repository-(\d+)$/.exec(name)?.[1]))
  }

  /** The installation of the App that may read a repository. */
  installationOf(repository: Repository): Installation | undefined {
    return [...this.installations.values()].find((installation) => installation.covers(repository))
  }

  /** Sends an event of a repository to the App, if it is installed there and not suspended. */
  send(repository: Repository, { event, action, sender, fields }: NewEvent): void {
    const installation = this.installationOf(repository)
    if (installation === undefined || installation.suspended_at !== null) return
    const { owner } = repository
    const payload = {
      ...(action === null ? {} : { action }),
      repository: wholeRepository(this, repository),
      ...(owner.type === 'organization' ? { organization: simpleOrganization(this, owner) } : {}),
      installation: simpleInstallation(installation),
      sender: simpleUser(this, sender),
      ...fields,
    }
    this.#deliver({ event, action, installation, repository, payload })
  }

  /** Sends an event of an installation itself. */
  sendInstallation(installation: Installation, { event, action, sender, fields }: NewEvent): void {
    const payload = { action, ...fields, sender: simpleUser(this, sender) }
    this.#deliver({ event, action, installation, repository: null, payload })
  }

  /** GitHub greets the webhook of a new App with `ping`. */
  ping(): void {
    const { id: app_id, created_at } = this.app
    const config = { content_type: 'json', insecure_ssl: '0', secret: '********', url: this.deliveries.url ?? '' }
    const times = { created_at, updated_at: created_at }
    const hook = { type: 'App', id: 77, name: 'web', active: true, events: ['push'], config, ...times, app_id }
    const payload = { zen: 'Keep it logically awesome.', hook_id: 77, hook }
    this.#deliver({ event: 'ping', action: null, installation: null, repository: null, payload })
  }

  #deliver({ event, action, installation, repository, payload }: NewDelivery): void {
    const sent = JSON.parse(githubJson(payload)) as Record<string, unknown>
    if (this.checked) this.violations.push(...payloadViolations(event, action, sent))
    const ids = { installation_id: installation?.id ?? null, repository_id: repository?.id ?? null }
    this.deliveries.add({ event, action, ...ids, payload: sent })
  }
}

type NewDelivery = Pick<Delivery, 'event' | 'action'> & {
  installation: Installation | null
  repository: Repository | null
  payload: object
}

/** JSON as GitHub writes it: times without milliseconds. */
export function githubJson(value: unknown): string {
  return JSON.stringify(value).replace(/("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.000Z"/g, '$1Z"')
}
