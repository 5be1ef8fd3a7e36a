import type { Db, Sql } from '../db/sql.ts'
import type { Log } from '../log.ts'

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
  'environment',
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
function mergeUpdates(updates: Iterable<Update>): Update[] {
  const byType = Map.groupBy(updates, ({ type }) => type)
  return [...byType].flatMap(([type, ofType]) => {
    const ids = [...new Set(ofType.map(({ id }) => id))]
    return ids.length > IDS_PER_TYPE_MAX ? [{ type, id: null }] : ids.map((id) => ({ type, id }))
  })
}

/** `changes` is its name in the versions that may run beside this one. */
type Message = { org: string; changes: Update[] }

/** The payloads of notifications that carry the updates of an organization. */
function toMessages(orgId: string, updates: Iterable<Update>): string[] {
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

/** PostgreSQL notifications on this channel carry live updates. */
export const UPDATE_CHANNEL = 'shiplock_changes'

/**
 * Notifies every process of updates when the caller's transaction commits. PostgreSQL commits
 * transactions with notifications one after the other, so hot transactions leave it to the
 * `UpdateFeed`.
 */
export async function publishUpdates(db: Db, orgId: string, updates: readonly Update[]): Promise<void> {
  const messages = toMessages(orgId, updates)
  if (messages.length === 0) return
  await db`
    select pg_notify(${UPDATE_CHANNEL}, message)
    from unnest(${messages}::text[]) message`
}

/**
 * Notifies every process of what committed transactions have changed. It does not wait for the
 * disk: a notification that a crash of the database loses has no listeners either.
 */
async function notifyCommitted(db: Db, messages: readonly string[]): Promise<void> {
  await db`
    select set_config('synchronous_commit', 'off', true), pg_notify(${UPDATE_CHANNEL}, message)
    from unnest(${[...messages]}::text[]) message`
}

const FLUSH_MS = 100
const UPDATES_KEPT_MAX = 1000

/**
 * Collects the live updates of this process and sends them ten times a second at most, however
 * many there are. Updates of a process that is killed in between are lost.
 */
export class UpdateFeed {
  readonly #sql: Sql
  readonly #log: Log
  #noted = new Map<string, Update[]>()
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> = Promise.resolve()

  constructor(sql: Sql, log: Log) {
    this.#sql = sql
    this.#log = log
  }

  /** Call it after the commit, so that readers see what has changed. */
  note(orgId: string, updates: readonly Update[]): void {
    if (updates.length === 0) return
    const noted = this.#noted.get(orgId) ?? []
    noted.push(...updates)
    this.#noted.set(orgId, noted.length > UPDATES_KEPT_MAX ? mergeUpdates(noted) : noted)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  /** Sends what was noted. */
  async close(): Promise<void> {
    this.#flush()
    await this.#flushing
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const messages = [...this.#noted].flatMap(([orgId, updates]) => toMessages(orgId, updates))
    this.#noted = new Map()
    if (messages.length === 0) return
    this.#flushing = notifyCommitted(this.#sql, messages).catch((err) => {
      this.#log.warn({ err }, 'Could not send live updates')
    })
  }
}
