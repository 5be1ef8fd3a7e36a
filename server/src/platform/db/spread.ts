import type { Db, Tx } from './sql.ts'

let spread = false

/**
 * Whether the organizations are spread over several database servers (docs/operations/citus.md).
 * Statements then have to name the organization wherever they read a table. A process works with
 * one database, and learns it once.
 */
export function isSpread(): boolean {
  return spread
}

/** Asks the database. A process does so before it uses it. */
export async function loadSpread(db: Db): Promise<void> {
  spread = await isDistributed(db)
}

/** Whether an operator has distributed the database. One on a single server never is. */
export async function isDistributed(db: Db): Promise<boolean> {
  const [catalog] = await db<[{ present: boolean }]>`
    select to_regclass('pg_catalog.pg_dist_partition') is not null as present`
  if (!catalog.present) return false
  const [row] = await db<[{ found: boolean }]>`select exists (select from pg_dist_partition) as found`
  return row.found
}

/** `orgId` is the organization of everything in the statement, or null for all. */
type Statement<Result> = (orgId: string | null) => Promise<readonly Result[]>

/**
 * Runs a statement over items of several organizations: once, or once for each organization if they
 * are on several servers. The results have no order.
 */
export async function runByOrganization<Item extends { org_id: string }, Result>(
  items: readonly Item[],
  run: (items: readonly Item[], orgId: string | null) => Promise<readonly Result[]>,
): Promise<Result[]> {
  if (!isSpread()) return [...(await run(items, null))]
  const groups = Map.groupBy(items, ({ org_id }) => org_id)
  return (await Promise.all(Array.from(groups, ([orgId, group]) => run(group, orgId)))).flat()
}

/**
 * Runs a statement that changes rows of all organizations: once, or for one organization after the
 * other if they are on several servers. `rows` is SQL, a table with the condition of these rows.
 */
export async function runAcrossOrganizations<Result>(
  db: Db,
  rows: ReturnType<Db>,
  run: Statement<Result>,
): Promise<Result[]> {
  if (!isSpread()) return [...(await run(null))]
  const organizations = await db<{ org_id: string }[]>`select distinct org_id from ${rows}`
  const results: Result[] = []
  for (const { org_id } of organizations) results.push(...(await run(org_id)))
  return results
}

/**
 * SQL: names the organization of a table, by its alias, if they are on several servers. Otherwise a
 * statement needs no more than the conditions that it has. Null stands for all organizations.
 */
export function buildSpreadCondition(db: Db, alias: string, orgId: string | null) {
  return isSpread() && orgId !== null ? db`and ${db(alias)}.org_id = ${orgId}::uuid` : db``
}

/**
 * An id whose rows the planner estimates by the average of the column. It looks up the value of a
 * parameter among the most common values of the column instead: an organization that is newer than
 * the statistics is not among them, and is estimated to have no rows (docs/adr/0011).
 * Of several database servers, only a parameter itself finds the right one.
 */
export function buildAverageId(db: Db, id: string | number) {
  if (isSpread()) return typeof id === 'string' ? db`${id}::uuid` : db`${id}::bigint`
  return typeof id === 'string' ? db`(select ${id}::uuid)` : db`(select ${id}::bigint)`
}

/** `buildAverageId` for `column = any(…)`. */
export function buildAverageIds(db: Db, ids: readonly number[]) {
  if (isSpread()) return db`${ids as number[]}::bigint[]`
  return db`(select ${ids as number[]}::bigint[])::bigint[]`
}

type Column = { name: string; type: string; collation: string | null }

/**
 * SQL: the rows of a temporary table under an alias, in a statement that changes a table which is
 * on several database servers. Only this connection sees the temporary table, so the rows are a
 * parameter that the statement unnests. On a single server, it is the table itself. Returns what
 * makes the SQL.
 */
export async function buildUnnestedRows(
  tx: Tx,
  table: string,
  alias: string,
  names: readonly string[],
): Promise<() => ReturnType<Tx>> {
  if (!isSpread()) return () => tx`${tx(table)} ${tx(alias)}`
  const [{ rows }] = await tx<[{ rows: string }]>`
    select coalesce(json_agg(given), '[]')::text as rows
    from (select ${tx([...names])} from ${tx(table)}) given`
  const definitions = (await readColumns(tx, table))
    .filter(({ name }) => names.includes(name))
    .map(({ name, type, collation }) => `"${name}" ${type}${collation === null ? '' : ` collate "${collation}"`}`)
  return () => tx`json_to_recordset(${rows}::text::json) as ${tx(alias)} (${tx.unsafe(definitions.join(', '))})`
}

async function readColumns(tx: Tx, table: string): Promise<Column[]> {
  return tx<Column[]>`
    select attname as name, format_type(atttypid, atttypmod) as type,
      case when attcollation not in (0, (select oid from pg_collation where collname = 'default')) then collname end
        as collation
    from pg_attribute
    left join pg_collation on pg_collation.oid = attcollation
    where attrelid = ${table}::regclass
      and attnum > 0
      and not attisdropped
    order by attnum`
}
