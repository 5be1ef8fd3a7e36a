import type { Sql, Tx } from '../../../src/platform/db/sql.ts'
import { chanceOf, inventAgain, inventRow } from './invent-row.ts'
import type { Row } from './landed-states.ts'
import { readShapes, type Shape } from './table-shape.ts'

const ROWS = 2
const TRIES_MAX = 1500

/**
 * Puts rows into every table that the migrations have left empty: known ones that its checks accept,
 * otherwise invented ones, which are changed where a constraint refuses them. Returns the rows of
 * each table.
 */
export async function fillTables(sql: Sql, known: Record<string, Row[]>, left: string[]): Promise<[string, Row[]][]> {
  const filled: Record<string, Row[]> = {}
  for (const shape of await readShapes(sql)) {
    const [{ rows }] = await sql<[{ rows: number }]>`select count(*)::int as rows from ${sql(shape.name)}`
    if (left.includes(shape.name) || rows > 0) continue
    filled[shape.name] = await sql.begin((tx) => fillTable(tx, shape, { filled, known: known[shape.name] ?? [] }))
  }
  return Object.entries(filled)
}

type Sources = { filled: Record<string, Row[]>; known: Row[] }

async function fillTable(tx: Tx, shape: Shape, { filled, known }: Sources): Promise<Row[]> {
  const stored: Row[] = []
  for (const row of known) {
    if (stored.length === ROWS) break
    const { row: accepted } = await tryInsert(tx, shape, row)
    if (accepted) stored.push(accepted)
  }
  for (let no = stored.length; no < ROWS; no += 1) {
    const row = await inventOne(tx, shape, filled, no)
    if (row === null && no === 0) console.error(`no row was found that ${shape.name} accepts`)
    if (row !== null) stored.push(row)
  }
  return stored
}

async function inventOne(tx: Tx, shape: Shape, parents: Record<string, Row[]>, no: number): Promise<Row | null> {
  const chance = chanceOf(`${shape.name} ${no}`)
  const row = inventRow(shape, parents, chance)
  for (let tries = 0; tries < TRIES_MAX / (no === 0 ? 1 : 20); tries += 1) {
    const { row: stored, refusedBy } = await tryInsert(tx, shape, row)
    if (stored) return stored
    const columns = shape.checks.find(({ name }) => name === refusedBy)?.columns
    inventAgain(row, columns ?? shape.columns.map(({ name }) => name), { shape, parents, chance })
    if (chance(60) === 0) Object.assign(row, inventRow(shape, parents, chance))
  }
  return null
}

type Attempt = { row?: Row; refusedBy?: string }

/** Returns the row as it was stored, without generated columns, or the constraint that refused it. */
async function tryInsert(tx: Tx, shape: Shape, row: Row): Promise<Attempt> {
  try {
    return { row: await tx.savepoint((nested) => insertRow(nested, shape, row)) }
  } catch (error) {
    const { constraint_name, column_name, code } = error as Record<string, string>
    if (!code?.startsWith('2')) throw new Error(`${shape.name}: ${(error as Error).message} ${JSON.stringify(row)}`)
    return { refusedBy: constraint_name ?? column_name ?? '' }
  }
}

/** Values of columns that the table does not have are left out. */
async function insertRow(tx: Tx, { name, columns }: Shape, row: Row): Promise<Row> {
  const own = columns.filter((column) => !column.is_generated).map((column) => column.name)
  const given = own.filter((column) => row[column] !== undefined).map((column) => `"${column}"`)
  const [stored] = await tx.unsafe<{ row: Row }[]>(
    `insert into ${name} (${given}) overriding system value
     select ${given} from jsonb_populate_record(null::${name}, $1::text::jsonb)
     returning to_jsonb(${name}.*) as row`,
    [JSON.stringify(row)],
  )
  return Object.fromEntries(own.map((column) => [column, stored?.row[column]]))
}
