import type { Db, Tx } from './sql.ts'

/** A table with its rows, as a backup describes it. */
export type StoredTable = {
  /** With the schema, quoted where SQL needs it. */
  name: string
  /** Without generated ones, quoted. */
  columns: string[]
  /** Whether the rows are in partitions of it. */
  is_partitioned: boolean
  /** The table's size on disk, as an estimate of what is read. */
  bytes: number
}

/** A sequence and where it stands. */
export type StoredSequence = { name: string; last_value: string; is_called: boolean }

/** A partition that a table has, with its bounds in SQL. */
export type StoredPartition = { name: string; parent: string; bounds: string }

/** The tables whose rows belong to an installation. */
function ours(db: Db): ReturnType<Db> {
  return db`n.nspname = 'public'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`
}

/** All tables with rows of ours, in the order of their names. */
export function listStoredTables(db: Db): Promise<StoredTable[]> {
  return listTables(db, ours(db))
}

/** All tables of a database that are not PostgreSQL's own, in the order of their names. */
export function listAllTables(db: Db): Promise<StoredTable[]> {
  return listTables(db, db`n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`)
}

async function listTables(db: Db, condition: ReturnType<Db>): Promise<StoredTable[]> {
  return db<StoredTable[]>`
    select
      format('%I.%I', n.nspname, c.relname) as name,
      array(
        select quote_ident(a.attname)
        from pg_attribute a
        where a.attrelid = c.oid
          and a.attnum > 0
          and not a.attisdropped
          and a.attgenerated = ''
        order by a.attnum
      ) as columns,
      c.relkind = 'p' as is_partitioned,
      case
        when c.relkind = 'p' then (select sum(pg_table_size(t.relid))::bigint from pg_partition_tree(c.oid) t)
        else pg_table_size(c.oid)
      end as bytes
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where ${condition}
      and c.relkind in ('r', 'p')
      and not c.relispartition
    order by 1`
}

/** All partitions, parents first. */
export async function listPartitions(db: Db): Promise<StoredPartition[]> {
  return db<StoredPartition[]>`
    select
      format('%I.%I', n.nspname, c.relname) as name,
      i.inhparent::regclass::text as parent,
      pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_inherits i on i.inhrelid = c.oid
    where ${ours(db)}
      and c.relkind in ('r', 'p')
      and c.relispartition
    order by c.relkind = 'r', 1`
}

/**
 * Where all sequences stand. They are outside of snapshots: read after the rows, they are past
 * every number in them.
 */
export async function listSequences(db: Db): Promise<StoredSequence[]> {
  const names = await db<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where ${ours(db)}
      and c.relkind = 'S'
    order by 1`
  const sequences: StoredSequence[] = []
  for (const { name } of names) {
    const [row] = await db<[Omit<StoredSequence, 'name'>]>`
      select last_value::text, is_called
      from ${db.unsafe(name)}`
    sequences.push({ name, ...row })
  }
  return sequences
}

/** Does nothing if there is no such sequence. */
export async function updateSequence(db: Db, { name, last_value, is_called }: StoredSequence): Promise<void> {
  await db`select setval(to_regclass(${name}), ${last_value}::bigint, ${is_called})`
}

/** Creates a partition, unless a migration has or its table is missing. */
export async function createPartition(db: Db, { name, parent, bounds }: StoredPartition): Promise<void> {
  const [table] = await db<[{ present: boolean }]>`select to_regclass(${parent}) is not null as present`
  if (table.present) await db.unsafe(`create table if not exists ${name} partition of ${parent} ${bounds}`)
}

/** Statements that give tables back what was taken from them, in their order. */
type RestoreStatements = readonly string[]

/**
 * Takes triggers, references, keys and indexes from all tables, so that rows can be loaded in any
 * order and fast. Needs no superuser. Generated columns, checks and `not null` stay.
 */
export async function removeConstraints(tx: Tx): Promise<RestoreStatements> {
  const parts = [await listTriggers(tx), await listConstraints(tx), await listIndexes(tx)].flat()
  for (const { remove } of parts) await tx.unsafe(remove)
  return parts.map(({ restore }) => restore).reverse()
}

/** Gives the tables back what `removeConstraints` took. Fails if a row violates it. */
export async function restoreConstraints(tx: Tx, statements: RestoreStatements): Promise<void> {
  for (const statement of statements) await tx.unsafe(statement)
}

type Part = { remove: string; restore: string }

async function listTriggers(tx: Tx): Promise<Part[]> {
  return tx<Part[]>`
    select distinct
      format('alter table %s disable trigger user', g.tgrelid::regclass) as remove,
      format('alter table %s enable trigger user', g.tgrelid::regclass) as restore
    from pg_trigger g
    join pg_class c on c.oid = g.tgrelid
    where c.relnamespace = 'public'::regnamespace
      and not g.tgisinternal
      and g.tgparentid = 0`
}

/** References before the keys that they need. */
async function listConstraints(tx: Tx): Promise<Part[]> {
  return tx<Part[]>`
    select
      format('alter table %s drop constraint %I', k.conrelid::regclass, k.conname) as remove,
      format('alter table %s add constraint %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
        as restore
    from pg_constraint k
    where k.connamespace = 'public'::regnamespace
      and k.contype in ('f', 'p', 'u', 'x')
      and k.conrelid <> 0
      and k.conparentid = 0
    order by k.contype <> 'f', k.conrelid::regclass::text, k.conname`
}

/** `only` would leave the indexes of partitions out. */
async function listIndexes(tx: Tx): Promise<Part[]> {
  return tx<Part[]>`
    select
      format('drop index %s', i.indexrelid::regclass) as remove,
      regexp_replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as restore
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'public'::regnamespace
      and not c.relispartition
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    order by 1`
}
