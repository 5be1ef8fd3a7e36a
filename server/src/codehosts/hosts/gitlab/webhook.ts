import { createHash, createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import {
  type DeliveryHead,
  type HostClient,
  HostRefusal,
  type HostWebhooks,
  type WebhookTarget,
} from '../../code-host.ts'
import { Remembered } from '../../kit/cache.ts'
import { Id, Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'
import { formatLane, getField, isDeliveryId, isEventName, isSameText, parseBody } from '../../kit/webhook-delivery.ts'
import { formatProjectPath, type GitlabApi, type Session } from './client.ts'

/** The form of GitLab's signing tokens: 32 bytes. */
const SIGNING_PREFIX = 'whsec_'

/** The key of signatures is made from the secret of the connection, so only one is stored. */
function signingKey(secret: string): Buffer {
  return createHmac('sha256', secret).update('gitlab webhook signature').digest()
}

export function formatSigningToken(secret: string): string {
  return `${SIGNING_PREFIX}${signingKey(secret).toString('base64')}`
}

/** The form of one of the signatures (Standard Webhooks): its version, and an HMAC-SHA256. */
const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/

/**
 * Compares `X-Gitlab-Token` in constant time where there is no signature. A webhook that signs has
 * no token, so a signature cannot be left out.
 */
export const hasSignature: HostWebhooks['hasSignature'] = (headers, target) => {
  if (target === null || target.secret === '') return false
  const { 'webhook-signature': signatures, 'x-gitlab-token': token } = headers
  if (typeof signatures !== 'string') return isSameText(String(token ?? ''), target.secret)
  return signatures.split(' ').some((given) => SIGNATURE.test(given))
}

/**
 * Checks the signature over the bytes of the body (GitLab 19.0 and later, Standard Webhooks), else
 * `X-Gitlab-Token`, in constant time. The age of a signature is not limited: a repeated delivery
 * has no effect, because its id is signed. `Idempotency-Key` is not, so it may not name another.
 */
export const verify: HostWebhooks['verify'] = async (body, headers, target) => {
  if (target === null || !hasSignature(headers, target)) return false
  const { 'webhook-signature': signatures, 'webhook-id': id, 'webhook-timestamp': time } = headers
  if (typeof signatures !== 'string') return true
  if (!isDeliveryId(id) || (headers['idempotency-key'] ?? id) !== id) return false
  const signed = createHmac('sha256', signingKey(target.secret)).update(`${id}.${time}.`).update(body)
  const expected = `v1,${signed.digest('base64')}`
  return signatures
    .split(' ')
    .map((given) => isSameText(given, expected))
    .includes(true)
}

/**
 * Null if the body is not JSON or does not name its event. The id of a signed delivery is the one
 * that is signed. Of others, `Idempotency-Key` (GitLab 17.4 and later) is the same in all tries;
 * before it, the id is made from the body.
 */
export const readHead: HostWebhooks['readHead'] = (body, headers, target) => {
  const isSigned = typeof headers['webhook-signature'] === 'string'
  const key = headers[isSigned ? 'webhook-id' : 'idempotency-key']
  const payload = parseBody(body)
  const event = getField(payload, 'object_kind') ?? getField(payload, 'event_name')
  if (!isEventName(event)) return null
  const id = isDeliveryId(key) ? key : `sha256:${createHash('sha256').update(body).digest('hex')}`
  return {
    id,
    event,
    action: parseAction(payload),
    installation_id: target?.installation_id ?? null,
    lane: parseLane(event, payload) ?? `delivery:${id}`,
    payload: JSON.stringify(payload, (name, value) => (SECRET_FIELDS.includes(name) ? undefined : value)),
  }
}

/** The variables of pipelines, and code in which secrets were found, can contain secrets. */
const SECRET_FIELDS = ['variables', 'raw_source_code_extract', 'raw_metadata']

function parseAction(payload: unknown): DeliveryHead['action'] {
  const attributes = getField(payload, 'object_attributes')
  const named = [
    getField(attributes, 'action'),
    getField(payload, 'build_status'),
    getField(payload, 'status'),
    getField(attributes, 'status'),
  ]
  return named.find(isEventName) ?? null
}

/** The object that a delivery is about; null if the payload does not name one. */
function parseLane(event: string, payload: unknown): string | null {
  const attributes = getField(payload, 'object_attributes')
  const project = parseId(getField(payload, 'project', 'id')) ?? parseId(getField(payload, 'project_id'))
  const own: Readonly<Record<string, string | null>> = {
    pipeline: formatLane('run', parseId(getField(attributes, 'id'))),
    build: formatLane('run', parseId(getField(payload, 'pipeline_id'))),
    deployment: formatLane('deployment', parseId(getField(payload, 'deployment_id'))),
    merge_request: formatLane('pull', project, parseId(getField(attributes, 'iid'))),
    note: formatLane('pull', project, parseId(getField(payload, 'merge_request', 'iid'))),
  }
  return own[event] ?? formatLane('repository', project)
}

function parseId(value: unknown): string | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : null
}

type WebhookActions = Pick<HostClient, 'ensureWebhook' | 'removeWebhooks'>

const PROJECT_PAGES_MAX = 50

/**
 * One webhook of the group covers its projects, where the edition has that and the token is an
 * owner's; else each project has one. Each place is looked at once in a synchronization.
 */
export function createWebhookActions(session: Session): WebhookActions {
  const { api, clock } = session
  const read = (key: string) => sendHook(api, ...(JSON.parse(key) as [Place, WebhookTarget]))
  const looks = new Remembered({ read, clock, ageMsMax: Number.POSITIVE_INFINITY })
  const look = (place: Place, target: WebhookTarget) => looks.get(JSON.stringify([place, target]))
  return {
    async ensureWebhook(repository, target) {
      const account = await session.account()
      const path = `${formatProjectPath(repository)}/hooks`
      const group = { path: encodePath`/groups/${account.id}/hooks`, has: true }
      if (account.type === 'group' && (await look(group, target))) {
        // What the group's webhook reports, no webhook of a project may report too.
        await look({ path, has: false }, target)
        return
      }
      if (await look({ path, has: true }, target)) return
      const text = 'GitLab does not let the token manage webhooks. It needs the role Maintainer, for a group Owner.'
      throw new HostRefusal(403, text)
    },

    async removeWebhooks(address) {
      const account = await session.account()
      if (account.type === 'group') await removeHooks(api, encodePath`/groups/${account.id}/hooks`, address)
      for (const project of await fetchProjects(session)) await removeHooks(api, `${project}/hooks`, address)
    },
  }
}

/** Whether there is to be a webhook of ours, or none. */
type Place = { path: string; has: boolean }

const Hook = Type.Object({
  id: Id,
  url: Text,
  signing_token_present: Maybe(Type.Boolean()),
  alert_status: Maybe(Text),
})
type Hook = Static<typeof Hook>

/** Those with this address, the oldest first. Null if they cannot be read. */
async function fetchHooks(api: GitlabApi, path: string, address: string): Promise<Hook[] | null> {
  const values = await api.readList(path)
  const own = values && api.parseItems(values, parseHook).filter(({ url }) => url === address)
  return own?.sort((one, other) => one.id - other.id) ?? null
}

function parseHook(value: unknown): Hook {
  return readAs(Hook, value)
}

/** False if webhooks cannot be managed here. */
async function sendHook(api: GitlabApi, { path, has }: Place, target: WebhookTarget): Promise<boolean> {
  const found = await fetchHooks(api, path, target.address)
  if (found === null) return false
  const [first, ...others] = found
  await removeAll(api, path, has ? others : found)
  if (!has) return true
  if (first !== undefined) {
    await sendSettings(api, path, first, target)
    if (DISABLED.includes(first.alert_status ?? '')) await enableHook(api, path, first, target)
    return true
  }
  await sendSettings(api, path, null, target)
  // Another process may have made one at the same time: both keep the older one.
  const [, ...later] = (await fetchHooks(api, path, target.address)) ?? []
  await removeAll(api, path, later)
  return true
}

/** Makes a webhook, or changes a known one. */
async function sendSettings(api: GitlabApi, path: string, known: Hook | null, target: WebhookTarget): Promise<void> {
  const settings = hookSettings(target)
  const answer = known ? await api.send('PUT', `${path}/${known.id}`, settings) : await api.send('POST', path, settings)
  const hook = parseHook(answer)
  // A webhook that signs needs no token, which could be read from its requests.
  if (hook.signing_token_present) await api.send('PUT', `${path}/${hook.id}`, { url: target.address, token: '' })
}

/** GitLab disables webhooks that failed four times in a row, some for good. */
const DISABLED = ['disabled', 'temporarily_disabled']

/** Its test requests name an object that is made up. We do not use this event. */
const TEST_TRIGGER = 'resource_access_token_events'

/**
 * A test request that arrives enables a webhook again; changing it does not. Servers without test
 * requests get another webhook.
 */
async function enableHook(api: GitlabApi, path: string, hook: Hook, target: WebhookTarget): Promise<void> {
  try {
    await api.send('POST', `${path}/${hook.id}/test/${TEST_TRIGGER}`)
  } catch (error) {
    if (!(error instanceof HostRefusal)) throw error
    if (error.status === 422)
      throw new HostRefusal(422, `GitLab has disabled the webhook, and its test request failed: ${error.message}`)
    await removeAll(api, path, [hook])
    await sendSettings(api, path, null, target)
  }
}

async function removeAll(api: GitlabApi, path: string, hooks: readonly Hook[]): Promise<void> {
  for (const { id } of hooks) await acceptRefusal(api.send('DELETE', `${path}/${id}`), [404])
}

async function removeHooks(api: GitlabApi, path: string, address: string): Promise<void> {
  await removeAll(api, path, (await fetchHooks(api, path, address)) ?? [])
}

const Project = Type.Object({ id: Id })

async function fetchProjects(session: Session): Promise<string[]> {
  const { api } = session
  const { id, login, type } = await session.account()
  const list = type === 'group' ? encodePath`/groups/${id}/projects` : encodePath`/users/${login}/projects`
  const own = type === 'group' ? { include_subgroups: true, with_shared: false } : {}
  const values = await api.readList(list, { ...own, simple: true }, PROJECT_PAGES_MAX)
  return api.parseItems(values ?? [], (value) => formatProjectPath({ id: String(readAs(Project, value).id) }))
}

/** Events that we use. Servers ignore those that they do not know. */
const WANTED = ['push', 'merge_requests', 'note', 'pipeline', 'job', 'deployment', 'vulnerability', 'project']
const UNWANTED = [
  ...['tag_push', 'issues', 'confidential_issues', 'confidential_note', 'wiki_page', 'releases'],
  ...['feature_flag', 'milestone', 'emoji', 'subgroup', 'member', 'resource_access_token'],
]

/**
 * Everything that a webhook of ours has. GitLab shows neither its secrets nor whether they are
 * right, so they are always sent.
 */
function hookSettings({ address, secret }: WebhookTarget): Record<string, unknown> {
  const events = [...WANTED.map((event) => [event, true]), ...UNWANTED.map((event) => [event, false])]
  return {
    url: address,
    token: secret,
    signing_token: formatSigningToken(secret),
    enable_ssl_verification: true,
    push_events_branch_filter: '',
    branch_filter_strategy: 'all_branches',
    ...Object.fromEntries(events.map(([event, isWanted]) => [`${event}_events`, isWanted])),
  }
}
