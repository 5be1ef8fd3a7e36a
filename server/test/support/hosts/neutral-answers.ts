import type { Json } from '../json.ts'
import type { Scene } from './host-table.ts'
import type { Repository } from './types.ts'

/**
 * What the API answers about a repository, without ids and times, which differ from story to story.
 */
export async function answersOf({ host, server }: Scene, repository: Repository): Promise<Json> {
  const name = host.fullName(repository)
  const encoded = encodeURIComponent(name)
  const own = (rows: Json[], field: string) => rows.filter((row) => row[field] === name)
  const runs = own(await server.get('/v1/runs?limit=100'), 'repository_full_name')
  const deployments = await server.get(`/v1/deployments?limit=100&repository=${encoded}`)
  const alerts = byType(own(await server.get('/v1/security/alerts?limit=100'), 'repository'))
  const found = `/v1/security/findings?limit=100&repository=${encoded}&provider=${host.provider}`
  const findings = byType(await server.get(found))
  return neutral({ runs, deployments, alerts, findings }, namesOf(host.idsOf(repository), repository))
}

/** We store alerts in the order in which they arrive. */
function byType(rows: Json[]): Json[] {
  return rows.toSorted((one, other) => one.type.localeCompare(other.type))
}

/**
 * Words that stand for what differs: ids in the order in which the fake gave them, commits, names.
 */
function namesOf(ids: readonly string[], { owner, commits }: Repository): [string, string][] {
  const shas = [...commits.keys()].map((sha, index): [string, string] => [sha, `commit ${index}`])
  return [...shas, ...ids.map((id, index): [string, string] => [id, `id ${index}`]), [owner.login, 'owner']]
}

const TIME = /^\d{4}-\d\d-\d\dT/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7/
/** Ids that a host derives from others. */
const DERIVED = /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/g
/** They depend on times and on what else has run. */
const VARYING = new Set(['importance_score', 'anomaly_reasons', 'duration_seconds'])

function neutral(value: Json, names: [string, string][]): Json {
  if (Array.isArray(value)) return value.map((item) => neutral(item, names))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !VARYING.has(name))
        .map(([name, field]) => [neutral(name, names), neutral(field as Json, names)]),
    )
  if (typeof value === 'number') return names.find(([id]) => id === String(value))?.[1] ?? value
  if (typeof value !== 'string') return value
  if (TIME.test(value)) return 'a time'
  if (UUID.test(value)) return 'an id'
  // The year of a CVE id is no id of the fake.
  const named = names.reduce(
    (text, [from, to]) => text.replaceAll(new RegExp(`(?<![\\d-])${from}(?![\\d-])`, 'g'), to),
    value,
  )
  return named.replaceAll(DERIVED, 'an id')
}

/** `runs.0.status: "success"` */
export function linesOf(value: Json, path = ''): string[] {
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0)
    return [`${path}: ${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, field]) =>
    linesOf(field as Json, path === '' ? name : `${path}.${name}`),
  )
}
