import type { Sql, Tx } from './sql.ts'

/**
 * A pool that consists of one transaction: what asks for a transaction works in this one, so that
 * all of it is stored together or not at all. A transaction that fails cannot be continued.
 */
export function toNestedSql(tx: Tx): Sql {
  const nested: Tx = new Proxy(tx, {
    get(target, name) {
      if (name === 'begin') return begin
      if (name === 'reserve') return reserve
      if (name === 'savepoint') return savepoint
      return Reflect.get(target, name)
    },
  })
  const begin = async (...given: unknown[]) => {
    const result = await (given.at(-1) as (tx: Tx) => Promise<unknown>)(nested)
    await dropTemporaryTables(tx)
    return result
  }
  const savepoint = async (work: (tx: Tx) => Promise<unknown>) => {
    await tx.unsafe('savepoint nested')
    try {
      const result = await work(nested)
      await tx.unsafe('release savepoint nested')
      return result
    } catch (error) {
      await tx.unsafe('rollback to savepoint nested; release savepoint nested')
      throw error
    }
  }
  const reserve = async () =>
    new Proxy(nested, { get: (of, name) => (name === 'release' ? () => {} : Reflect.get(of, name)) })
  return nested as unknown as Sql
}

/** What `on commit drop` would do at the end of a transaction of its own. */
async function dropTemporaryTables(tx: Tx): Promise<void> {
  const tables = await tx<{ name: string }[]>`
    select format('pg_temp.%I', relname) as name
    from pg_class
    where relnamespace = pg_my_temp_schema()
      and relkind = 'r'`
  if (tables.length > 0) await tx.unsafe(`drop table ${tables.map(({ name }) => name).join(', ')}`)
}
