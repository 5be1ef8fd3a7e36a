import type { Tx } from '../platform/db/sql.ts'
import type { StoredTable } from '../platform/db/stored-tables.ts'

/** Loading takes as long as it takes, and sorts large indexes. */
export async function updateLoadSettings(tx: Tx): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx`set local maintenance_work_mem = '256MB'`
}

/** Throws unless the database has no table, apart from empty ones of the queue. */
export async function requireEmpty(tx: Tx): Promise<void> {
  const found = await tx<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.relnamespace = 'public'::regnamespace
      and c.relkind in ('r', 'p', 'v', 'm')
      and not exists (
        select
        from pg_depend d
        where d.classid = 'pg_class'::regclass
          and d.objid = c.oid
          and d.deptype = 'e'
      )
    order by c.relname
    limit 3`
  if (found.length === 0) return
  const names = found.map(({ name }) => name).join(', ')
  throw new Error(`The database is not empty (it has ${names}); restore into an empty one`)
}

/** Removes the rows that migrations have inserted. */
export async function deleteTableRows(tx: Tx, tables: readonly StoredTable[]): Promise<void> {
  await tx`truncate ${tx.unsafe(tables.map(({ name }) => name).join(', '))}`
}

/** Lets the planner know the rows. */
export async function updatePlannerStatistics(tx: Tx): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`analyze`
}
