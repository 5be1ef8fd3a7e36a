import type { Db, Sql } from '../sql.ts'

export type StoredTable = {
  /** With its schema, as SQL. */
  name: string
  /** As SQL, without generated columns. */
  columns: string[]
  /** Whether the rows are in partitions of it. */
  is_partitioned: boolean
  /** PostgreSQL's estimate. */
  rows: number
}

/** All tables that are not PostgreSQL's own. */
export async function listTables(sql: Db): Promise<StoredTable[]> {
  const tables = await sql<StoredTable[]>`
    select format('%I.%I', n.nspname, t.relname) as name, t.relkind = 'p' as is_partitioned,
      greatest(0, t.reltuples)::bigint as rows,
      array(
        select quote_ident(attname)
        from pg_attribute
        where attrelid = t.oid
          and attnum > 0
          and not attisdropped
          and attgenerated = ''
        order by attname collate "C"
      ) as columns
    from pg_class t
    join pg_namespace n on n.oid = t.relnamespace
    where t.relkind in ('r', 'p')
      and not t.relispartition
      and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    order by 1`
  return [...tables]
}

/** Throws if a table of the old database has no counterpart, because its data would be lost. */
export function refuseUnknownTables(before: StoredTable[], after: StoredTable[]): void {
  const known = new Map(after.map(({ name, columns }) => [name, columns.join()]))
  const unknown = before.filter(({ name, columns }) => known.get(name) !== columns.join())
  if (unknown.length === 0) return
  const names = unknown.map(({ name }) => name).join(', ')
  throw new Error(`The database has tables that are not those of Shiplock: ${names}. Move them to another database.`)
}

/**
 * The number of rows, and a sum over the hashes of all of them, which does not depend on their
 * order.
 */
export async function digestTable(sql: Db, { name, columns }: StoredTable): Promise<{ rows: number; sum: string }> {
  const [digest] = await sql.unsafe<[{ rows: number; sum: string }]>(
    `select count(*) as rows,
       coalesce(sum(('x' || left(md5(row(${columns.join(', ')})::text), 15))::bit(60)::bigint), 0)::text as sum
     from ${name}`,
  )
  return digest
}

/** Sets all sequences to the values of the old database. */
export async function copySequences(from: Sql, to: Sql): Promise<void> {
  const sequences = await from<{ name: string; last: string | null }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
    from pg_sequences
    limit 10000`
  for (const { name, last } of sequences) if (last !== null) await to`select setval(${name}, ${last}::bigint)`
}

/** Roles that an administrator has added. They belong to the server, not to the database. */
export async function listOwnRoles(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select rolname as name
    from pg_roles
    where rolname !~ '^pg_'
      and rolname <> current_user
    limit 1000`
  return rows.map(({ name }) => name)
}
