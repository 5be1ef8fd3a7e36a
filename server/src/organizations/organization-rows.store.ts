import type { Db, Sql, Tx } from '../platform/db/sql.ts'

/** Marks an organization whose data may be deleted from now on, its audit log included. */
export async function markForDeletion(tx: Tx, orgId: string, at: Date): Promise<void> {
  await tx`
    update organizations
    set deletion_started_at = coalesce(deletion_started_at, ${at})
    where id = ${orgId}`
}

export type Reference = { child: string; parent: string }

/** The tables whose rows belong to an organization, and which of them refer to which. */
export async function readOwnedTables(db: Db): Promise<{ tables: string[]; references: Reference[] }> {
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

/** The number of rows of an organization. `table` is a name of `readOwnedTables`. */
export async function countRows(db: Db, table: string, orgId: string): Promise<number> {
  const [{ count }] = await db<[{ count: number }]>`
    select count(*)::int as count
    from ${db(table)}
    where org_id = ${orgId}`
  return count
}

/** Deletes some rows of an organization. `table` is a name of `readOwnedTables`. */
export async function deleteRows(sql: Sql, table: string, orgId: string, limit: number): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table)}
    where ctid = any(array(
      select ctid
      from ${sql(table)}
      where org_id = ${orgId}
      limit ${limit}
    ))`
  return count
}

/** Takes the jobs of an organization off the queue, unless one is running. */
export async function deleteJobs(sql: Sql, orgId: string): Promise<void> {
  await sql`
    delete from graphile_worker._private_jobs
    where locked_at is null
      and payload ->> 'org_id' = ${orgId}`
}

export async function deleteOrganizationRow(tx: Tx, orgId: string): Promise<void> {
  await tx`
    delete from organizations
    where id = ${orgId}`
}
