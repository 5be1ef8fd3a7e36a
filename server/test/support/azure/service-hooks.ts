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

/** The subscriptions of service hooks, and the requests of checks. */
export class ServiceHooks extends Webhooks {
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
      list(hooksOf(state, hooks, organizationOf(state, request)).map(subscription)),
    [`POST ${SUBSCRIPTIONS}`]: (request) => {
      organizationOf(state, request)
      return ok(subscription(hooks.addHook(fieldsOf(request.body))))
    },
    [`PUT ${SUBSCRIPTIONS}/{subscriptionId}`]: (request) => {
      const hook = hookOf(request)
      const { events, ...fields } = fieldsOf(request.body)
      Object.assign(hook, { ...fields, events: new Set(events), active: request.body.status === 'enabled' })
      return ok(subscription(hook))
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
function subscription({ uuid, settings, active, created_at }: Hook) {
  const consumerInputs = { ...(settings.consumerInputs as object), basicAuthPassword: '********' }
  const createdDate = created_at.toISOString()
  return { ...settings, id: uuid, createdDate, status: active ? 'enabled' : 'disabledBySystem', consumerInputs }
}
