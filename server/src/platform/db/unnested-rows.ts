import { isSpread } from './spread.ts'
import type { Tx } from './sql.ts'

type Column = { name: string; type: string; collation: string | null }

/**
 * SQL: the rows of a temporary table under an alias, in a statement that changes a table which is
 * on several database servers. Only this connection sees the temporary table, so the rows are a
 * parameter that the statement unnests. On a single server, it is the table itself. Returns what
 * makes the SQL.
 */
export async function buildUnnestedRows(
  tx: Tx,
  table: string,
  alias: string,
  names: readonly string[],
): Promise<() => ReturnType<Tx>> {
  if (!isSpread()) return () => tx`${tx(table)} ${tx(alias)}`
  const [{ rows }] = await tx<[{ rows: string }]>`
    select coalesce(json_agg(given), '[]')::text as rows
    from (select ${tx([...names])} from ${tx(table)}) given`
  const definitions = (await readColumns(tx, table))
    .filter(({ name }) => names.includes(name))
    .map(({ name, type, collation }) => `"${name}" ${type}${collation === null ? '' : ` collate "${collation}"`}`)
  return () => tx`json_to_recordset(${rows}::text::json) as ${tx(alias)} (${tx.unsafe(definitions.join(', '))})`
}

async function readColumns(tx: Tx, table: string): Promise<Column[]> {
  return tx<Column[]>`
    select attname as name, format_type(atttypid, atttypmod) as type,
      case when attcollation not in (0, (select oid from pg_collation where collname = 'default')) then collname end
        as collation
    from pg_attribute
    left join pg_collation on pg_collation.oid = attcollation
    where attrelid = ${table}::regclass
      and attnum > 0
      and not attisdropped
    order by attnum`
}
