import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import { tooManyEnvironments } from '../../errors/deployments.ts'
import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { validateGlob } from '../../platform/glob.ts'
import { createNotFoundError, invalidRequest } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import { publishUpdates, update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { ENVIRONMENT_ENTRIES_MAX, type EnvironmentEntry, type GivenEnvironment } from './environment.schema.ts'
import { listEnvironmentEntries, updateEnvironmentEntries } from './environment.store.ts'

type Needs = Pick<Services, 'clock' | 'sql'>

/**
 * States facts about the environments that globs match: changes the entry with these globs, or adds
 * one behind the others. Facts that are left out stay as they are, and null takes one back. Throws
 * 400 `invalid_request` and 409 `too_many_environments`.
 */
export async function applyEnvironmentFacts(
  needs: Needs,
  orgId: string,
  author: Author,
  given: GivenEnvironment,
): Promise<EnvironmentEntry> {
  const { environment, repository = null, ...facts } = given
  for (const [field, pattern] of Object.entries({ environment, repository })) {
    const mistake = pattern === null ? null : validateGlob(pattern)
    if (mistake !== null) throw invalidRequest(`The ${field} is not a valid pattern: ${mistake}`)
  }
  const now = needs.clock.now()
  const globs = { environment, repository }
  return changeEntries(needs, orgId, async (entries, tx) => {
    const before = entries.find((entry) => entry.environment === environment && entry.repository === repository)
    if (before === undefined && entries.length >= ENVIRONMENT_ENTRIES_MAX)
      throw tooManyEnvironments(ENVIRONMENT_ENTRIES_MAX)
    const { id, created_at, ...stated } = before ?? {
      ...{ id: createUuid(now), position: entries.length + 1, ...globs },
      ...{ exposure: null, criticality: null, production: null, created_at: now },
    }
    const entry = { id, ...stated, ...facts, created_at, updated_at: now }
    if ([entry.exposure, entry.criticality, entry.production].every((fact) => fact === null))
      throw invalidRequest('State at least one of exposure, criticality and production, or delete the entry')
    await audit(tx, orgId, { author, action: 'environment.set', id, details: { ...globs, ...facts } }, now)
    return {
      entry,
      entries: before === undefined ? [...entries, entry] : entries.map((one) => (one === before ? entry : one)),
    }
  })
}

/** Moves an entry to a position among the others, from 1 on. Throws 404. */
export async function updateEnvironmentPosition(
  needs: Needs,
  { org_id, id, position }: { org_id: string; id: string; position: number },
  author: Author,
): Promise<EnvironmentEntry> {
  return changeEntries(needs, org_id, async (entries, tx) => {
    const moved = requireEntry(entries, id)
    const ordered = entries.filter((one) => one !== moved)
    ordered.splice(position - 1, 0, moved)
    const entry = { ...moved, position: ordered.indexOf(moved) + 1 }
    const details = { before: moved.position, after: entry.position }
    await audit(tx, org_id, { author, action: 'environment.move', id, details }, needs.clock.now())
    return { entry, entries: ordered }
  })
}

/** Deletes an entry. Throws 404. */
export async function deleteEnvironment(
  needs: Needs,
  { org_id, id }: { org_id: string; id: string },
  author: Author,
): Promise<EnvironmentEntry> {
  return changeEntries(needs, org_id, async (entries, tx) => {
    const entry = requireEntry(entries, id)
    const { environment, repository, exposure, criticality, production } = entry
    const details = { environment, repository, exposure, criticality, production }
    await audit(tx, org_id, { author, action: 'environment.delete', id, details }, needs.clock.now())
    return { entry, entries: entries.filter((one) => one !== entry) }
  })
}

type Changed = { entry: EnvironmentEntry; entries: EnvironmentEntry[] }

/** The lock makes simultaneous changes see each other's order. */
async function changeEntries(
  { sql }: Needs,
  orgId: string,
  change: (entries: EnvironmentEntry[], tx: Tx) => Promise<Changed>,
): Promise<EnvironmentEntry> {
  return sql.begin(async (tx) => {
    await lockName(tx, `environments of ${orgId}`)
    const { entry, entries } = await change(await listEnvironmentEntries(tx, orgId), tx)
    await updateEnvironmentEntries(tx, orgId, entries)
    await publishUpdates(tx, orgId, [update('environment'), update('deployment')])
    return entry
  })
}

function requireEntry(entries: readonly EnvironmentEntry[], id: string): EnvironmentEntry {
  const entry = entries.find((one) => one.id === id.toLowerCase())
  if (entry === undefined) throw createNotFoundError('environment')
  return entry
}

type Audited = { author: Author; action: string; id: string; details: Record<string, unknown> }

async function audit(tx: Tx, orgId: string, { author, action, id, details }: Audited, at: Date): Promise<void> {
  await insertAuditEntry(tx, orgId, { ...author, action, object: { type: 'environment', id }, details }, at)
}
