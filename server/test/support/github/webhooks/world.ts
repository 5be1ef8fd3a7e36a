import { payloadViolations } from '../description.ts'
import { simpleInstallation, simpleOrganization, simpleUser } from '../objects/accounts.ts'
import { wholeRepository } from '../objects/repository.ts'
import type { Context } from '../objects/urls.ts'
import type { State } from '../state.ts'
import type { Account, Installation, Repository } from '../types.ts'
import type { AppDeliveries, Delivery } from './deliveries.ts'

export type NewEvent = {
  event: string
  action: string | null
  sender: Account
  fields: Record<string, unknown>
}

export type RuleAnswer = {
  run_id: number
  environment: string
  state: 'approved' | 'rejected' | null
  comment: string | null
}

/** The state together with the webhooks that its changes cause. */
export class World implements Context {
  readonly state: State
  readonly deliveries: AppDeliveries
  readonly api: string
  readonly html: string
  /** What GitHub's description says against requests, answers and payloads. */
  readonly violations: string[] = []
  /** What our protection rule answered, oldest first. `state` is null for a comment. */
  readonly ruleAnswers: RuleAnswer[] = []
  /** Whether payloads, requests and answers are checked. */
  readonly checked: boolean

  constructor(state: State, deliveries: AppDeliveries, options: { api: string; html: string; checked: boolean }) {
    this.state = state
    this.deliveries = deliveries
    this.api = options.api
    this.html = options.html
    this.checked = options.checked
  }

  now(): Date {
    return this.state.clock.now()
  }

  /** Sends an event of a repository to the App, if it is installed there and not suspended. */
  emit(repository: Repository, { event, action, sender, fields }: NewEvent): Delivery | null {
    const installation = this.state.installationOf(repository)
    if (installation === undefined || installation.suspended_at !== null) return null
    const { owner } = repository
    const payload = {
      ...(action === null ? {} : { action }),
      repository: wholeRepository(this, repository),
      ...(owner.type === 'Organization' ? { organization: simpleOrganization(this, owner) } : {}),
      installation: simpleInstallation(installation),
      sender: simpleUser(this, sender),
      ...fields,
    }
    return this.#deliver({ event, action, installation, repository, payload })
  }

  /** Sends an event of an installation itself. */
  emitInstallation(installation: Installation, { event, action, sender, fields }: NewEvent): Delivery {
    const payload = { action, ...fields, sender: simpleUser(this, sender) }
    return this.#deliver({ event, action, installation, repository: null, payload })
  }

  /** GitHub greets the webhook of a new App with `ping`. */
  ping(): Delivery {
    const { app } = this.state
    const config = { content_type: 'json', insecure_ssl: '0', secret: '********', url: this.deliveries.url ?? '' }
    const times = { created_at: app.created_at, updated_at: app.created_at }
    const hook = { type: 'App', id: 77, name: 'web', active: true, events: ['push'], config, ...times, app_id: app.id }
    const payload = { zen: 'Keep it logically awesome.', hook_id: 77, hook }
    return this.#deliver({ event: 'ping', action: null, installation: null, repository: null, payload })
  }

  #deliver(made: {
    event: string
    action: string | null
    installation: Installation | null
    repository: Repository | null
    payload: object
  }): Delivery {
    const { event, action, installation, repository } = made
    const payload = JSON.parse(githubJson(made.payload)) as Record<string, unknown>
    if (this.checked) this.violations.push(...payloadViolations(event, action, payload))
    const ids = { installation_id: installation?.id ?? null, repository_id: repository?.id ?? null }
    return this.deliveries.add({ event, action, ...ids, payload })
  }
}

/** JSON as GitHub writes it: times without milliseconds. */
export function githubJson(value: unknown): string {
  return JSON.stringify(value).replace(/("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.000Z"/g, '$1Z"')
}
