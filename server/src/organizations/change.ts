/** The kinds of objects that live updates name (docs/application-api.md, "Live updates"). */
const CHANGE_TYPES = [
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
export type ChangeType = (typeof CHANGE_TYPES)[number]

/** What changed. A null id stands for any number of objects of the type. */
export type Change = { type: ChangeType; id: string | null }

/** All organizations, for changes such as an import of vulnerability intelligence. */
export const EVERY_ORGANIZATION = '*'

/** PostgreSQL limits the payload of a notification to 8,000 bytes. */
const IDS_PER_TYPE_MAX = 20
const CHANGES_PER_MESSAGE = 20

/** Each change once. Where many objects of a type changed, one change stands for all of them. */
export function condense(changes: Iterable<Change>): Change[] {
  const byType = Map.groupBy(changes, ({ type }) => type)
  return [...byType].flatMap(([type, ofType]) => {
    const ids = [...new Set(ofType.map(({ id }) => id))]
    return ids.length > IDS_PER_TYPE_MAX ? [{ type, id: null }] : ids.map((id) => ({ type, id }))
  })
}

type Message = { org: string; changes: Change[] }

/** The payloads of notifications that carry the changes of an organization. */
export function toMessages(orgId: string, changes: Iterable<Change>): string[] {
  const condensed = condense(changes)
  const messages: string[] = []
  for (let at = 0; at < condensed.length; at += CHANGES_PER_MESSAGE) {
    const message: Message = { org: orgId, changes: condensed.slice(at, at + CHANGES_PER_MESSAGE) }
    messages.push(JSON.stringify(message))
  }
  return messages
}

export function readMessage(payload: string): Message {
  return JSON.parse(payload)
}
