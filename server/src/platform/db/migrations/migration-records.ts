import type { Db, Sql, Tx } from '../sql.ts'
import type { RecordedMigrations } from './plan-migrations.ts'
import type { Migration } from './read-migrations.ts'

/** Reads what the database has. It is empty before the first migration. */
export async function readRecords(sql: Db): Promise<RecordedMigrations> {
  const [table] = await sql<[{ present: boolean }]>`select to_regclass('schema_migrations') is not null as present`
  if (!table.present) return new Map()
  const rows = await sql<{ name: string; checksum: string }[]>`
    select name, checksum
    from schema_migrations
    limit 10000`
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** Creates the tables of the migrator. */
export async function createRecords(tx: Tx): Promise<void> {
  await tx`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
  await tx`
    create table if not exists schema_migration_batches (
      name text primary key,
      position text not null,
      rows bigint not null
    )`
}

/** Records a migration as applied, in place of the earlier files that it replaces. */
export async function record(sql: Db, { name, checksum, replaces }: Migration): Promise<void> {
  const replaced = [name, ...replaces.map((file) => file.name)]
  await sql`delete from schema_migrations where name in ${sql(replaced)}`
  await sql`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`
}

/** How far a migration in batches is: its last position, and how many rows it has handled. */
type BatchPosition = { position: string | null; rows: number }

export async function readPosition(tx: Tx, name: string): Promise<BatchPosition> {
  const [row] = await tx<[BatchPosition?]>`select position, rows from schema_migration_batches where name = ${name}`
  return row ?? { position: null, rows: 0 }
}

/** Without a position, the batches have ended. */
export async function writePosition(tx: Tx, name: string, { position, rows }: BatchPosition): Promise<void> {
  if (position === null) await tx`delete from schema_migration_batches where name = ${name}`
  else
    await tx`
      insert into schema_migration_batches (name, position, rows)
      values (${name}, ${position}, ${rows})
      on conflict (name) do update set position = excluded.position, rows = excluded.rows`
}

/** PostgreSQL's estimate of a table's rows. */
export async function countEstimatedRows(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<[{ rows: number }]>`
    select greatest(0, coalesce(max(reltuples), 0))::bigint as rows
    from pg_class
    where oid = to_regclass(${table})`
  return row.rows
}
