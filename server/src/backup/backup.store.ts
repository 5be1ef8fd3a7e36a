import { buildArtifactObjects } from '../ci/reports/artifact-removal.store.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { StoredTable } from '../platform/db/stored-tables.ts'
import { buildUploadObjects } from '../security/uploads/expired-upload.store.ts'

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

/** An object that a row names. One that is not required may not have been sent yet. */
export type ListedObject = { position: number; key: string; size: number; sha256: string; is_required: boolean }

const OBJECTS_AT_ONCE = 1000

/**
 * Keeps the list of the objects that the rows of a snapshot name, in a temporary table of the
 * connection. So the objects can be read after the snapshot has ended, and it holds up no vacuum.
 */
export async function insertObjectList(tx: Tx): Promise<{ objects: number; bytes: number }> {
  await tx`
    create temporary table backup_objects as
    select row_number() over ()::int as position, key, size, sha256, is_required
    from (${buildArtifactObjects(tx)} union all ${buildUploadObjects(tx)}) as listed`
  await tx`create unique index on backup_objects (position)`
  const [total] = await tx<[{ objects: number; bytes: number }]>`
    select count(*)::int as objects, coalesce(sum(size), 0)::bigint as bytes
    from backup_objects`
  return total
}

/** Reads the kept list on the same connection. */
export async function* listKeptObjects(db: Db): AsyncGenerator<ListedObject> {
  for (let after = 0; ; ) {
    const page = await db<ListedObject[]>`
      select position, key, size, sha256, is_required
      from backup_objects
      where position > ${after}
      order by position
      limit ${OBJECTS_AT_ONCE}`
    yield* page
    after = page.at(-1)?.position ?? 0
    if (page.length < OBJECTS_AT_ONCE) return
  }
}

/** Whether a row names the object now. */
export async function isNamed(db: Db, key: string): Promise<boolean> {
  const [row] = await db<[{ named: boolean }]>`
    select exists (
      select
      from (${buildArtifactObjects(db)} union all ${buildUploadObjects(db)}) as listed
      where key = ${key}
    ) as named`
  return row.named
}
