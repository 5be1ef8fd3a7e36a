import { isSpread } from '../platform/db/spread.ts'
import type { Db, Sql, Tx } from '../platform/db/sql.ts'
import { deleteJobs } from '../platform/queue/queue.store.ts'
import type { Services } from '../services.ts'
import type { Organization } from './organization.store.ts'
import {
  countRows,
  deleteOrganizationRow,
  deleteRows,
  insertDeleted,
  listOwnedTables,
  type Reference,
  updateDeletionStarted,
} from './organization-rows.store.ts'

const BATCH_ROWS = 5000

/** `total` is what was found at the start; more can be added meanwhile. */
type Progress = (rows: number, total: number) => void

/** The number of deleted rows by table, without the tables that had none, and of files. */
type DeletedOrganization = { rows: number; objects: number; tables: Record<string, number> }

/** What slices above this one have of an organization besides rows with its id. */
export type OrganizationParts = {
  /** Each removes files, before their rows are deleted, and returns their number. */
  files: readonly ((services: Services, orgId: string) => Promise<number>)[]
  /** Deletes accounts that exist only there, and returns their number. */
  people(tx: Tx, orgId: string): Promise<number>
}

/**
 * Deletes an organization with everything that belongs to it: the rows of every table that has an
 * `org_id`, its files, its queued jobs and its fictional people. Works in batches, and can be
 * repeated after an interruption. What happens meanwhile is deleted, too.
 */
export async function deleteOrganization(
  services: Services,
  { id }: Pick<Organization, 'id'>,
  parts: OrganizationParts,
  progress: Progress = () => {},
): Promise<DeletedOrganization> {
  const { sql, clock } = services
  await sql.begin((tx) => updateDeletionStarted(tx, id, clock.now()))
  let objects = 0
  for (const remove of parts.files) objects += await remove(services, id)
  const tables = await deleteTables(sql, id, progress)
  const people = await sql.begin(async (tx) => {
    const count = await parts.people(tx, id)
    await insertDeleted(tx, id, { at: clock.now(), rows: sum(Object.values(tables)), files: objects })
    await deleteOrganizationRow(tx, id)
    return count
  })
  // Foreign keys to a row on another server do not refuse what was added in the last moment.
  if (isSpread()) await deleteTables(sql, id, progress)
  const counts = { ...tables, ...(people > 0 && { users: people }), organizations: 1 }
  return { rows: sum(Object.values(counts)), objects, tables: counts }
}

/** The number of rows of an organization in all tables. */
export async function countOrganization(db: Db, orgId: string): Promise<number> {
  const { tables } = await listOwnedTables(db)
  let total = 0
  for (const table of tables) total += await countRows(db, table, orgId)
  return total
}

/** Repeats until no table has rows: a job that is running may add some. */
async function deleteTables(sql: Sql, orgId: string, progress: Progress): Promise<Record<string, number>> {
  const { tables, references } = await listOwnedTables(sql)
  const total = await countOrganization(sql, orgId)
  const counts: Record<string, number> = {}
  for (let found = true; found; ) {
    await deleteJobs(sql, orgId)
    found = false
    for (const table of sortForDeletion(tables, references)) {
      for (let count = BATCH_ROWS; count === BATCH_ROWS; ) {
        count = await deleteRows(sql, table, orgId, BATCH_ROWS)
        if (count === 0) break
        found = true
        counts[table] = (counts[table] ?? 0) + count
        progress(sum(Object.values(counts)), total)
      }
    }
  }
  return counts
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** What gives access to an organization. It is deleted as early as the references allow. */
const ACCESS = ['members', 'api_keys', 'oidc_trusts', 'links', 'single_sign_on']

/**
 * The tables in an order in which their rows can be deleted: a table comes after all that refer to
 * it. Throws if tables refer to each other in a circle.
 */
export function sortForDeletion(tables: readonly string[], references: readonly Reference[]): string[] {
  const order: string[] = []
  const left = new Set([...ACCESS.filter((table) => tables.includes(table)), ...tables])
  while (left.size > 0) {
    const next = [...left].find((table) => !references.some(({ child, parent }) => parent === table && left.has(child)))
    if (next === undefined) throw new Error(`Tables refer to each other in a circle: ${[...left].join(', ')}`)
    left.delete(next)
    order.push(next)
  }
  return order
}
