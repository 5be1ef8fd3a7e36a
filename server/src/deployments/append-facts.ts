import type { Db } from '../platform/db/sql.ts'
import { listPlaces } from './deployment-list.store.ts'
import { listDeploymentSubjects } from './deployment-subject.store.ts'
import { listEnvironmentEntries } from './environments/environment.store.ts'
import { getEnvironmentFacts } from './environments/environment-facts.ts'

/**
 * Appends to the JSON of each deployment the exposure of its environment as of now, and its
 * subjects.
 */
export async function appendFacts<Row extends { id: string; json: string }>(
  db: Db,
  orgId: string,
  rows: readonly Row[],
): Promise<Row[]> {
  const entries = rows.length === 0 ? [] : await listEnvironmentEntries(db, orgId)
  const ids = entries.length === 0 ? [] : rows.map(({ id }) => id)
  const places = ids.length === 0 ? [] : await listPlaces(db, orgId, ids)
  const subjects = await listDeploymentSubjects(
    db,
    orgId,
    rows.map(({ id }) => id),
  )
  const byId = new Map(places.map((place) => [place.id, { ...place, repository: place.address }]))
  return rows.map((row) => {
    const place = byId.get(row.id)
    const exposure = place ? getEnvironmentFacts(entries, place).exposure : 'unknown'
    const own = subjects.get(row.id)
    const named = own === undefined ? '' : `,"subjects":${JSON.stringify(own)}`
    return { ...row, json: `${row.json.slice(0, -1)},"exposure":"${exposure}"${named}}` }
  })
}
