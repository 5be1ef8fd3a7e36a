/** The kinds of objects that live updates name (docs/application-api.md, "Live updates"). */
const UPDATE_TYPES = [
  'run',
  'deployment',
  'security_upload',
  'finding',
  'issue',
  'alert',
  'triage',
  'compliance_result',
  'change',
  'repository',
  'gate',
  'policy',
  'api_key',
  'oidc_trust',
  'code_host',
  'member',
  'invitation',
  'role',
  'single_sign_on',
  'organization',
] as const
export type UpdateType = (typeof UPDATE_TYPES)[number]

/** Says that an object has changed. A null id stands for any number of objects of the type. */
export type Update = { readonly type: UpdateType; readonly id: string | null }

export function update(type: UpdateType, id: string | null = null): Update {
  return { type, id }
}

/** All organizations, for updates such as an import of vulnerability intelligence. */
export const EVERY_ORGANIZATION = '*'

/** PostgreSQL limits the payload of a notification to 8,000 bytes. */
const IDS_PER_TYPE_MAX = 20
const UPDATES_PER_MESSAGE = 20

/** Each update once. Where many objects of a type changed, one update stands for all of them. */
export function mergeUpdates(updates: Iterable<Update>): Update[] {
  const byType = Map.groupBy(updates, ({ type }) => type)
  return [...byType].flatMap(([type, ofType]) => {
    const ids = [...new Set(ofType.map(({ id }) => id))]
    return ids.length > IDS_PER_TYPE_MAX ? [{ type, id: null }] : ids.map((id) => ({ type, id }))
  })
}

/** `changes` is its name in the versions that may run beside this one. */
type Message = { org: string; changes: Update[] }

/** The payloads of notifications that carry the updates of an organization. */
export function toMessages(orgId: string, updates: Iterable<Update>): string[] {
  const condensed = mergeUpdates(updates)
  const messages: string[] = []
  for (let at = 0; at < condensed.length; at += UPDATES_PER_MESSAGE) {
    const message: Message = { org: orgId, changes: condensed.slice(at, at + UPDATES_PER_MESSAGE) }
    messages.push(JSON.stringify(message))
  }
  return messages
}

export function readMessage(payload: string): Message {
  return JSON.parse(payload)
}
