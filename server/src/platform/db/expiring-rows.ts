import type { Db, Tx } from './sql.ts'

/** What has expired at a time: rows of an organization from before another one. */
export type Expiry = { org_id: string; before: Date; at: Date }

/** A kind of rows that retention removes. Each slice has those of its own tables. */
export type Expiring = {
  /** The name of the kind in figures, in the plural. */
  kind: string
  count(db: Db, expiry: Expiry): Promise<number>
  /** Removes some rows with everything that belongs to them. */
  remove(tx: Tx, batch: ExpiredBatch): Promise<Removal>
}

/** A kind of rows that belong to no organization, and that are kept for a time of their own. */
export type ExpiringShared = {
  kind: string
  count(db: Db, at: Date): Promise<number>
  /** Removes up to `limit` rows, and returns how many. */
  remove(tx: Tx, at: Date, limit: number): Promise<number>
}

/**
 * The first `limit` rows from a position on, of those that satisfy a further condition on `item`.
 */
export type ExpiredBatch = Expiry & { limit: number; from: Position | null; condition?: Condition }

/** `last` is where the next batch starts, so that it does not read what was just deleted. */
export type Removal = { removed: number; last: Position | null }

type Position = Date | string | number
type Expression = ReturnType<Db>
/** A part of a statement, from any function that makes one. */
type Condition = object

export type ExpiringTable = {
  kind: string
  table: string
  /** The columns that identify a row of an organization. */
  key: readonly [string, ...string[]]
  /** The column in whose order rows are removed. An index starts with `org_id` and this column. */
  order: string
  /** The condition on a row `item`. */
  isExpired(db: Db, expiry: Expiry): Expression
  /** What is removed with a row. */
  parts?: readonly RowParts[]
}

/** Rows of `table` whose columns have the values of the key's columns, in its order. */
type RowParts = { table: string; columns: readonly string[] }

export type ExpiringWithId = Omit<ExpiringTable, 'key' | 'parts'>

/** A table whose rows stand for themselves, or have parts with their key. */
export function defineExpiringRows(table: ExpiringTable): Expiring {
  return {
    kind: table.kind,
    count: (db, expiry) => countExpired(db, table, expiry),
    remove: (tx, batch) => deleteExpired(tx, table, batch),
  }
}

/** A table with the key `id`. `removeParts` removes first what refers to the rows. */
export function defineExpiringWithParts(rows: ExpiringWithId, removeParts: RemoveParts): Expiring {
  return {
    kind: rows.kind,
    count: (db, expiry) => countExpired(db, rows, expiry),
    async remove(tx, batch) {
      const { removal, ids } = await lockExpired(tx, rows, batch)
      if (ids.length > 0) {
        await removeParts(tx, batch.org_id, ids, batch.at)
        await deleteBy(tx, { tables: [rows.table], column: 'id' }, batch.org_id, ids)
      }
      return removal
    },
  }
}

export type RemoveParts = (tx: Tx, orgId: string, ids: readonly string[], at: Date) => Promise<void>

export async function countExpired(db: Db, { table, isExpired }: ExpiringWithId, expiry: Expiry): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from ${db(table)} item
    where item.org_id = ${expiry.org_id}
      and ${isExpired(db, expiry)}`
  return row.count
}

function expiredRows(
  tx: Tx,
  { table, order, isExpired }: ExpiringWithId,
  batch: ExpiredBatch,
  columns: ReturnType<Tx>,
) {
  const position = tx`item.${tx(order)}`
  return tx`
    select ${columns}
    from ${tx(table)} item
    where item.org_id = ${batch.org_id}
      and ${isExpired(tx, batch)}
      ${batch.from === null ? tx`` : tx`and ${position} >= ${batch.from}`}
      ${batch.condition === undefined ? tx`` : tx`and ${batch.condition as Expression}`}
    order by ${position}
    limit ${batch.limit}`
}

async function deleteExpired(tx: Tx, table: ExpiringTable, batch: ExpiredBatch): Promise<Removal> {
  const [first, ...others] = table.key
  const columns = others.reduce<ReturnType<Tx>>(
    (list, column) => tx`${list}, item.${tx(column)}`,
    tx`item.${tx(first)}`,
  )
  const parts = (table.parts ?? []).reduce(
    (list, part, at) => tx`${list}, ${tx(`part_${at}`)} as (${deleteMatching(tx, part, table.key, batch.org_id)})`,
    tx``,
  )
  const rows = await tx<{ position: Position }[]>`
    with expired as materialized (${expiredRows(tx, table, batch, columns)})
    ${parts}
    ${deleteMatching(tx, { table: table.table, columns: table.key }, table.key, batch.org_id)}
    returning gone.${tx(table.order)} as position`
  return toRemoval(rows)
}

/** SQL: deletes the rows whose `columns` have the values of the `key` of an expired row. */
function deleteMatching(tx: Tx, { table, columns }: RowParts, key: readonly string[], orgId: string) {
  const matches = key.map((name, at) => tx`and gone.${tx(columns[at] as string)} = expired.${tx(name)}`)
  return tx`
    delete from ${tx(table)} gone
    using expired
    where gone.org_id = ${orgId}
      ${matches}`
}

/** Locks the rows that expire next. Those that others have locked are left for the next run. */
export async function lockExpired(tx: Tx, table: ExpiringWithId, batch: ExpiredBatch) {
  const columns: ReturnType<Tx> = tx`item.id, item.${tx(table.order)} as position`
  const rows = await tx<{ id: string; position: Position }[]>`
    ${expiredRows(tx, table, batch, columns)}
    for update of item skip locked`
  return { ids: rows.map(({ id }) => id), removal: toRemoval(rows) }
}

/** Deletes the rows of an organization, table by table, whose `column` is one of the ids. */
export async function deleteBy(
  tx: Tx,
  { tables, column }: { tables: readonly string[]; column: string },
  orgId: string,
  ids: readonly string[],
): Promise<void> {
  for (const table of tables)
    await tx`
      delete from ${tx(table)}
      where org_id = ${orgId}
        and ${tx(column)} = any(${[...ids]})`
}

function toRemoval(rows: readonly { position: Position }[]): Removal {
  const last = rows.reduce<Position | null>(
    (most, { position }) => (most === null || position > most ? position : most),
    null,
  )
  return { removed: rows.length, last }
}
