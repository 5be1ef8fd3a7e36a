import type { Db, Sql, Tx } from '../platform/db/sql.ts'

/** Marks an organization whose data may be deleted from now on, its audit log included. */
export async function updateDeletionStarted(tx: Tx, orgId: string, at: Date): Promise<void> {
  await tx`
    update organizations
    set deletion_started_at = coalesce(deletion_started_at, ${at})
    where id = ${orgId}`
}

export type Reference = { child: string; parent: string }

/** The tables whose rows belong to an organization, and which of them refer to which. */
export async function listOwnedTables(db: Db): Promise<{ tables: string[]; references: Reference[] }> {
  const tables = await db<{ name: string }[]>`
    select class.relname as name
    from pg_class class
    join pg_attribute attribute on attribute.attrelid = class.oid
    where class.relnamespace = 'public'::regnamespace
      and class.relkind in ('r', 'p')
      and attribute.attname = 'org_id'
      and not attribute.attisdropped
    order by class.relname`
  const references = await db<Reference[]>`
    select distinct child.relname as child, parent.relname as parent
    from pg_constraint reference
    join pg_class child on child.oid = reference.conrelid
    join pg_class parent on parent.oid = reference.confrelid
    where reference.contype = 'f'
      and child.oid <> parent.oid
      and child.relnamespace = 'public'::regnamespace
    order by child.relname, parent.relname`
  return { tables: tables.map(({ name }) => name), references: [...references] }
}

/** The number of rows of an organization. `table` is a name of `listOwnedTables`. */
export async function countRows(db: Db, table: string, orgId: string): Promise<number> {
  const [{ count }] = await db<[{ count: number }]>`
    select count(*)::int as count
    from ${db(table)}
    where org_id = ${orgId}`
  return count
}

/** Deletes some rows of an organization. `table` is a name of `listOwnedTables`. */
export async function deleteRows(sql: Sql, table: string, orgId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table)}
    where org_id = ${orgId}
      and ctid = any(array(
      select ctid
      from ${sql(table)}
      where org_id = ${orgId}
      limit ${limit}
    ))`
  return count
}

export async function deleteOrganizationRow(tx: Tx, orgId: string): Promise<void> {
  await tx`
    delete from organizations
    where id = ${orgId}`
}

/** Lets a transaction be open for as long as it needs, also while nothing is read from it. */
export async function updateTransactionTimeouts(tx: Tx): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
}

/** The row of an organization as JSON text. */
export async function findOrganizationRow(db: Db, orgId: string): Promise<string> {
  const [row] = await db<[{ json: string }]>`
    select row_to_json(organization)::text as json
    from organizations organization
    where id = ${orgId}`
  return row.json
}

const ROWS_EXPORTED_AT_ONCE = 500

/** Rows as JSON, one a line. */
type OwnedRows = { count: number; lines: string }

/** Reads all rows of an organization. `table` is a name of `listOwnedTables`. */
export async function* listOwnedRows(tx: Tx, table: string, orgId: string): AsyncGenerator<OwnedRows> {
  const rows = tx<{ json: string }[]>`
    select row_to_json(item)::text as json
    from ${tx(table)} item
    where org_id = ${orgId}`
  for await (const batch of rows.cursor(ROWS_EXPORTED_AT_ONCE))
    yield { count: batch.length, lines: batch.map(({ json }) => `${json}\n`).join('') }
}

/** What remains of an organization after its deletion. */
type DeletedRow = {
  id: string
  slug: string
  name: string
  created_at: Date
  deleted_at: Date
  deleted_rows: number
  deleted_files: number
}

/**
 * Notes that an organization is deleted, in the transaction that deletes its row. Example data
 * leaves nothing.
 */
export async function insertDeleted(
  tx: Tx,
  orgId: string,
  { at, rows, files }: { at: Date; rows: number; files: number },
): Promise<void> {
  await tx`
    insert into deleted_organizations (id, slug, name, created_at, deleted_at, deleted_rows, deleted_files)
    select id, slug, name, created_at, ${at}, ${rows}, ${files}
    from organizations
    where id = ${orgId}
      and not is_demo`
}

const DELETED_LISTED_MAX = 1000

/** Deleted organizations, the last one first. */
export async function listDeleted(db: Db): Promise<DeletedRow[]> {
  return db<DeletedRow[]>`
    select id, slug, name, created_at, deleted_at, deleted_rows, deleted_files
    from deleted_organizations
    order by deleted_at desc
    limit ${DELETED_LISTED_MAX}`
}
