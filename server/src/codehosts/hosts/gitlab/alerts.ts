import { type Static, Type } from 'typebox'
import { type HostReader, HostRefusal } from '../../code-host.ts'
import { HOST_ALERT_TYPES, type HostAlert, type HostAlertType } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import {
  parseAlertStatus,
  parseAlertType,
  parseVulnerability,
  toHostAlert,
  type Vulnerability,
} from './alert-parsers.ts'
import { formatProjectPath, type GitlabApi, type Session } from './client.ts'

type AlertReads = Pick<HostReader, 'listAlerts' | 'readAlert'>

/** Up to 5,000 vulnerabilities of a project. */
const PAGES_MAX = 50

export function createAlertReads(session: Session): AlertReads {
  const { api } = session
  const lists = new ListsForTypes((id) => fetchVulnerabilities(session, id))
  return {
    /** GitLab cannot sort by the last change, so the list is read whole. */
    async listAlerts(repository, type) {
      const found = await lists.take(repository.id, type)
      if (found === null) return { items: [], next: null, etag: null }
      const own = found.filter(({ report_type }) => parseAlertType(report_type) === type)
      const alerts = await completeAlerts(session, repository, own)
      alerts.sort((one, other) => other.updated_at.getTime() - one.updated_at.getTime() || other.number - one.number)
      return { items: alerts, next: null, etag: '' }
    },

    async readAlert(repository, { type, number }) {
      const value = await api.read(encodePath`/vulnerabilities/${number}`)
      const found = value && parseVulnerability(value)
      const isOther =
        !found || parseAlertType(found.report_type) !== type || String(found.project?.id) !== repository.id
      const [alert] = isOther ? [] : await completeAlerts(session, repository, [found])
      return alert ?? null
    },
  }
}

const LISTS_MAX = 100

/** A synchronization asks for one type after the other. The list is read once for all of them. */
class ListsForTypes {
  readonly #read: (id: string) => Promise<Vulnerability[] | null>
  readonly #lists = new Map<string, { values: Promise<Vulnerability[] | null>; taken: Set<HostAlertType> }>()

  constructor(read: (id: string) => Promise<Vulnerability[] | null>) {
    this.#read = read
  }

  /** Reads the list again for a type that has taken it before, which starts the next pass. */
  take(id: string, type: HostAlertType): Promise<Vulnerability[] | null> {
    const known = this.#lists.get(id)
    const list =
      known === undefined || known.taken.has(type) ? { values: this.#read(id), taken: new Set<HostAlertType>() } : known
    list.taken.add(type)
    this.#lists.delete(id)
    if (list.taken.size < HOST_ALERT_TYPES.length) this.#lists.set(id, list)
    const [oldest] = this.#lists.keys()
    if (oldest !== undefined && this.#lists.size > LISTS_MAX) this.#lists.delete(oldest)
    return list.values
  }
}

async function fetchVulnerabilities({ api }: Session, id: string): Promise<Vulnerability[] | null> {
  const values = await api.readList(`${formatProjectPath({ id })}/vulnerabilities`, {}, PAGES_MAX)
  return values && api.parseItems(values, parseVulnerability)
}

async function completeAlerts(
  session: Session,
  repository: HostRepository,
  found: readonly Vulnerability[],
): Promise<HostAlert[]> {
  const dismissed = found.filter((one) => parseAlertStatus(one) === 'dismissed')
  const texts = await fetchDismissals(
    session.api,
    dismissed.map(({ id }) => id),
  )
  const alerts = await Promise.all(
    found.map(async (one) => {
      const by = one.dismissed_by_id ? await session.user(String(one.dismissed_by_id)) : null
      const { reason = null, comment = null } = texts.get(one.id) ?? {}
      return session.api.parseItem(one, () => toHostAlert(one, repository, { by, reason, comment }))
    }),
  )
  return alerts.filter((alert) => alert !== null)
}

const Dismissal = Type.Object({ dismissalReason: Maybe(Text), stateComment: Maybe(Text) })
const Found = Type.Record(Type.String(), Type.Union([Dismissal, Type.Null()]))

type DismissalText = { reason: string | null; comment: string | null }

const IDS_AT_ONCE = 50

/**
 * The reasons and comments of dismissed vulnerabilities, which only GraphQL has. Those that cannot
 * be read are left out.
 */
async function fetchDismissals(api: GitlabApi, ids: readonly number[]): Promise<Map<number, DismissalText>> {
  const texts = new Map<number, DismissalText>()
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const part = ids.slice(at, at + IDS_AT_ONCE)
    const found = await fetchPart(api, part)
    for (const id of part) {
      const dismissal = found[`v${id}`]
      if (!dismissal) continue
      const { dismissalReason: reason, stateComment: comment } = dismissal
      texts.set(id, { reason: reason?.toLowerCase() || null, comment: comment || null })
    }
  }
  return texts
}

async function fetchPart(api: GitlabApi, ids: readonly number[]): Promise<Static<typeof Found>> {
  const fields = ids.map(
    (id) => `v${id}: vulnerability(id: "gid://gitlab/Vulnerability/${id}") { dismissalReason stateComment }`,
  )
  try {
    const found = await api.query(`query { ${fields.join('\n')} }`, {})
    return api.parseItem(found, (value) => readAs(Found, value)) ?? {}
  } catch (error) {
    if (error instanceof HostRefusal) return {}
    throw error
  }
}
