import type { Db, Tx } from '../../platform/db/sql.ts'
import { ENVIRONMENT_ENTRIES_MAX, type EnvironmentEntry } from './environment.schema.ts'

/** What the organization states about environments. The first entry that matches counts. */
export async function listEnvironmentEntries(db: Db, orgId: string): Promise<EnvironmentEntry[]> {
  return db<EnvironmentEntry[]>`
    select id, position, environment, repository, exposure, criticality, production, created_at, updated_at
    from environment_facts
    where org_id = ${orgId}
    order by position
    limit ${ENVIRONMENT_ENTRIES_MAX}`
}

/**
 * Stores the entries of an organization in place of those that it had. Whoever calls it holds their
 * lock; without it, the unique position makes one of two callers fail.
 */
export async function updateEnvironmentEntries(
  tx: Tx,
  orgId: string,
  entries: readonly EnvironmentEntry[],
): Promise<void> {
  await tx`
    delete from environment_facts
    where org_id = ${orgId}`
  for (const [index, entry] of entries.entries())
    await tx`
      insert into environment_facts (
        org_id, id, position, environment, repository, exposure, criticality, production, created_at, updated_at
      )
      values (
        ${orgId}, ${entry.id}, ${index + 1}, ${entry.environment}, ${entry.repository}, ${entry.exposure},
        ${entry.criticality}, ${entry.production}, ${entry.created_at}, ${entry.updated_at}
      )`
}
