import type { Message, ReleaseOptions } from '../hosts/deliveries.ts'
import { found } from '../hosts/http-error.ts'
import { ok } from '../hosts/rest-request.ts'
import type { Account, Project } from '../hosts/types.ts'
import type { HookDelivery } from '../hosts/webhooks.ts'
import { type Hook, Webhooks } from '../hosts/webhooks.ts'
import { type AzureRequest, type AzureRoutes, list, organizationOf } from './requests.ts'
import type { AzureState, ServiceConnection } from './state.ts'

/** Azure DevOps sends the name and the password of a subscription. It signs nothing. */
function credentialsOf({ hook }: HookDelivery): Record<string, string> {
  const { basicAuthUsername: user = '' } = inputsOf(hook)
  return { authorization: `Basic ${Buffer.from(`${user}:${hook.secret}`).toString('base64')}` }
}

function inputsOf({ settings }: Hook): Record<string, string> {
  return (settings.consumerInputs ?? {}) as Record<string, string>
}

const GONE = 410

/**
 * The subscriptions of service hooks, and the requests of checks.
 *
 * https://learn.microsoft.com/azure/devops/service-hooks/troubleshoot, "Subscription failures and
 * probation": 410 is a terminal failure, after which the subscription is "automatically disabled no
 * matter its prior state". 408, 502, 503 and 504 are sent again for three minutes; after that, and
 * after any other failure at once, the subscription is on probation: "any new events are lost",
 * until one of seven retries within 36 hours succeeds, or it is `disabledBySystem`. The fake does
 * not wait for retries. The page names no other end of a probation, so changing one ends none.
 */
export class ServiceHooks extends Webhooks {
  readonly onProbation = new Set<Hook>()

  constructor(state: AzureState) {
    super(state.world, credentialsOf)
  }

  /** A check calls the address of its service connection, with values of its run as headers. */
  ask({ username, password, shown }: ServiceConnection, headers: Record<string, string>, body: object): void {
    const consumerInputs = { basicAuthUsername: username }
    const asked = {
      url: shown.url,
      secret: password,
      scope: 'check',
      events: [],
      settings: { consumerInputs, headers },
    }
    const hook = this.addHook(asked)
    this.removeHook(hook)
    this.take({ guid: hook.uuid, hook, event: 'check', payload: body, tries: [] })
  }

  /** Service hooks that fail are lost. Azure Pipelines calls a check again. */
  override async release(options: ReleaseOptions = {}): Promise<void> {
    await super.release(options)
    for (const lost of this.failed.filter(({ event }) => event === 'check')) this.send(lost, true)
    await this.settled()
  }

  protected override tried({ hook, tries }: HookDelivery): void {
    const { statusCode = 0 } = tries.at(-1) ?? {}
    hook.active = statusCode >= 200 && statusCode <= 299
    if (hook.active || statusCode === GONE) this.onProbation.delete(hook)
    else this.onProbation.add(hook)
  }

  protected override messageOf(delivery: HookDelivery): Message {
    const message = super.messageOf(delivery)
    const headers = (delivery.hook.settings.headers ?? {}) as Record<string, string>
    return { ...message, headers: { ...message.headers, ...headers } }
  }
}

export function scopeOf({ uuid }: Project): string {
  return `project ${uuid}`
}

const SUBSCRIPTIONS = '/{organization}/_apis/hooks/subscriptions'

export function hookRoutes(state: AzureState, hooks: ServiceHooks): AzureRoutes {
  const hookOf = (request: AzureRequest) =>
    found(
      hooksOf(state, hooks, organizationOf(state, request)).find(({ uuid }) => uuid === request.params.subscriptionId),
    )
  return {
    [`GET ${SUBSCRIPTIONS}`]: (request) =>
      list(hooksOf(state, hooks, organizationOf(state, request)).map((hook) => subscription(hooks, hook))),
    [`POST ${SUBSCRIPTIONS}`]: (request) => {
      organizationOf(state, request)
      return ok(subscription(hooks, hooks.addHook(fieldsOf(request.body))))
    },
    [`PUT ${SUBSCRIPTIONS}/{subscriptionId}`]: (request) => {
      const hook = hookOf(request)
      const { events, ...fields } = fieldsOf(request.body)
      const active = request.body.status === 'enabled' && !hooks.onProbation.has(hook)
      Object.assign(hook, { ...fields, events: new Set(events), active })
      return ok(subscription(hooks, hook))
    },
    [`DELETE ${SUBSCRIPTIONS}/{subscriptionId}`]: (request) => {
      hooks.removeHook(hookOf(request))
      return { status: 200 }
    },
  }
}

/** The subscriptions of an organization's projects. */
export function hooksOf(state: AzureState, { hooks }: ServiceHooks, organization: Account): Hook[] {
  const scopes = new Set(state.projectsOf(organization).map(scopeOf))
  return hooks.filter(({ scope }) => scopes.has(scope))
}

function fieldsOf(body: AzureRequest['body']) {
  const { url, basicAuthPassword: secret } = body.consumerInputs
  return { url, secret, events: [body.eventType], scope: `project ${body.publisherInputs.projectId}`, settings: body }
}

/** The password is not shown. */
function subscription({ onProbation }: ServiceHooks, hook: Hook) {
  const { uuid, settings, active, created_at } = hook
  const consumerInputs = { ...(settings.consumerInputs as object), basicAuthPassword: '********' }
  const createdDate = created_at.toISOString()
  const status = active ? 'enabled' : onProbation.has(hook) ? 'onProbation' : 'disabledBySystem'
  return { ...settings, id: uuid, createdDate, status, consumerInputs }
}
