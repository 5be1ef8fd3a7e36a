import type { Tx } from './sql.ts'

/** Statements that give tables back what was taken from them, in their order. */
export type RestoreStatements = readonly string[]

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
