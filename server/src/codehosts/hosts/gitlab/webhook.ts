import { createHash, createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { MINUTE_MS } from '../../../platform/clock.ts'
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
 * has no effect.
 */
export const verify: HostWebhooks['verify'] = async (body, headers, target) => {
  if (target === null || !hasSignature(headers, target)) return false
  const { 'webhook-signature': signatures, 'webhook-id': id, 'webhook-timestamp': time } = headers
  if (typeof signatures !== 'string') return true
  const signed = createHmac('sha256', signingKey(target.secret)).update(`${id}.${time}.`).update(body)
  const expected = `v1,${signed.digest('base64')}`
  return signatures
    .split(' ')
    .map((given) => isSameText(given, expected))
    .includes(true)
}

/**
 * Null if the body is not JSON or does not name its event. `Idempotency-Key` (GitLab 17.4 and
 * later) is the same in all tries of a delivery; before it, the id is made from the body.
 */
export const readHead: HostWebhooks['readHead'] = (body, { 'idempotency-key': key }, target) => {
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

const CHECKED_MS = 10 * MINUTE_MS
const PROJECT_PAGES_MAX = 50

/**
 * One webhook of the group covers its projects, where the edition has that and the token is an
 * owner's; else each project has one.
 */
export function createWebhookActions(session: Session): WebhookActions {
  const { api, clock } = session
  const targets = new Map<string, WebhookTarget>()
  const checks = new Remembered({
    read: (key) => {
      const [path] = JSON.parse(key) as [string]
      return sendHook(api, path, targets.get(key) as WebhookTarget)
    },
    clock,
    ageMsMax: CHECKED_MS,
  })
  const check = (path: string, wanted: WebhookTarget): Promise<boolean> => {
    const key = JSON.stringify([path, wanted.address, wanted.secret])
    targets.set(key, wanted)
    return checks.get(key)
  }
  return {
    async ensureWebhook(repository, wanted) {
      const account = await session.account()
      if (account.type === 'group' && (await check(encodePath`/groups/${account.id}/hooks`, wanted))) return
      if (await check(`${formatProjectPath(repository)}/hooks`, wanted)) return
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

const Hook = Type.Object({ id: Id, url: Text, signing_token_present: Maybe(Type.Boolean()) })
type Hook = Static<typeof Hook>

async function fetchHooks(api: GitlabApi, path: string, address: string): Promise<Hook[] | null> {
  const values = await api.readList(path)
  return values && api.parseItems(values, (value) => readAs(Hook, value)).filter(({ url }) => url === address)
}

/** False if webhooks cannot be managed here. */
async function sendHook(api: GitlabApi, path: string, target: WebhookTarget): Promise<boolean> {
  const found = await fetchHooks(api, path, target.address)
  if (found === null) return false
  const [first, ...others] = found
  for (const { id } of others) await api.send('DELETE', `${path}/${id}`)
  const settings = hookSettings(target)
  const answer = first ? await api.send('PUT', `${path}/${first.id}`, settings) : await api.send('POST', path, settings)
  const hook = readAs(Hook, answer)
  // A webhook that signs needs no token, which could be read from its requests.
  if (hook.signing_token_present) await api.send('PUT', `${path}/${hook.id}`, { url: target.address, token: '' })
  return true
}

async function removeHooks(api: GitlabApi, path: string, address: string): Promise<void> {
  for (const { id } of (await fetchHooks(api, path, address)) ?? []) await api.send('DELETE', `${path}/${id}`)
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
