import type { Db, Tx } from '../platform/db/sql.ts'

/** What Citus says about a database. `workers` are the servers that can hold shards. */
export type Cluster = { hasCoordinator: boolean; workers: string[] }

/** Null without the extension. */
export async function findCluster(db: Db): Promise<Cluster | null> {
  const [extension] = await db`select from pg_extension where extname = 'citus'`
  if (!extension) return null
  const nodes = await db<{ name: string; is_coordinator: boolean; holds_shards: boolean }[]>`
    select format('%s:%s', nodename, nodeport) as name, groupid = 0 as is_coordinator,
      isactive and shouldhaveshards as holds_shards
    from pg_dist_node
    where noderole = 'primary'
    order by name`
  return {
    hasCoordinator: nodes.some((node) => node.is_coordinator),
    workers: nodes.filter((node) => node.holds_shards).map(({ name }) => name),
  }
}

export type KeptTable = {
  name: string
  has_organization: boolean
  /** Whether Citus keeps it: distributed, or on all servers. */
  is_spread: boolean
  /** The tables that it refers to, without itself. */
  parents: string[]
}

/** All tables of ours. Needs the extension. */
export async function listTables(db: Db): Promise<KeptTable[]> {
  return db<KeptTable[]>`
    select
      class.relname as name,
      exists (
        select from pg_attribute
        where attrelid = class.oid
          and attname = 'org_id'
          and not attisdropped
      ) as has_organization,
      exists (select from pg_dist_partition where logicalrelid = class.oid) as is_spread,
      array(
        select distinct parent.relname::text
        from pg_constraint reference
        join pg_class parent on parent.oid = reference.confrelid
        where reference.contype = 'f'
          and reference.conrelid = class.oid
          and reference.confrelid <> class.oid
      ) as parents
    from pg_class class
    where class.relnamespace = 'public'::regnamespace
      and class.relkind in ('r', 'p')
      and not class.relispartition
      and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass
          and objid = class.oid
          and deptype = 'e'
      )
    order by class.relname`
}

/** Moving a table takes as long as it takes, and uses one connection to each server. */
export async function updateMoveSettings(tx: Tx): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`set local citus.multi_shard_modify_mode = 'sequential'`
}

/** Ends the foreign keys from a table to others. */
export async function deleteReferences(tx: Tx, table: string, others: readonly string[]): Promise<void> {
  const ended = await tx<{ statement: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement
    from pg_constraint
    join pg_class parent on parent.oid = confrelid
    where contype = 'f'
      and conrelid = ${table}::regclass
      and parent.relname in ${tx(others)}`
  for (const { statement } of ended) await tx.unsafe(statement)
}

/** Citus moves shards to other servers by their WAL, which unlogged tables do not have. */
export async function updateTableLogging(tx: Tx, table: string): Promise<void> {
  await tx`alter table ${tx(table)} set logged`
}

/** Moves the rows to the shards of their organizations, which are beside those of `beside`. */
export async function updateTableDistribution(tx: Tx, table: string, beside: string | null): Promise<void> {
  await tx`select create_distributed_table(${table}, 'org_id', colocate_with => ${beside ?? 'none'})`
}

/** Copies the rows to all servers. */
export async function copyToAllServers(tx: Tx, table: string): Promise<void> {
  await tx`select create_reference_table(${table})`
}

/** Makes our functions known to all servers. Those of triggers are used by local tables only. */
export async function updateFunctionDistribution(db: Db): Promise<void> {
  const functions = await db<{ signature: string }[]>`
    select oid::regprocedure::text as signature
    from pg_proc
    where pronamespace = 'public'::regnamespace
      and prokind = 'f'
      and prorettype <> 'trigger'::regtype
      and not exists (
        select from pg_depend
        where classid = 'pg_proc'::regclass
          and objid = pg_proc.oid
          and deptype = 'e'
      )
    order by 1`
  for (const { signature } of functions) await db`select create_distributed_function(${signature})`
}

/** Removes the rows that the coordinator still has of tables whose rows were moved. */
export async function deleteMovedRows(db: Db, tables: readonly string[]): Promise<void> {
  const left = await db<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace
      and relname in ${db(tables)}
      and pg_relation_size(oid) > 0`
  for (const { name } of left) await db`select truncate_local_data_after_distributing_table(${name})`
}

/** The programs of Shiplock that are connected, without this one. */
export async function listPrograms(db: Db): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select distinct application_name as name
    from pg_stat_activity
    where datname = current_database()
      and application_name like 'shiplock %'
      and application_name <> current_setting('application_name')
    order by name`
  return rows.map(({ name }) => name)
}
