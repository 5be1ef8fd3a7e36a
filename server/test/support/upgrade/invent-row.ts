import { createHash } from 'node:crypto'
import type { Row } from './landed-states.ts'
import type { Column, Reference, Shape } from './table-shape.ts'

/** A source of numbers below `limit` that repeats itself for one seed. */
export type Chance = (limit: number) => number

export function chanceOf(seed: string): Chance {
  let count = 0
  return (limit) => {
    count += 1
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() % limit
  }
}

/** A row for a table whose checks are not known yet to accept it. */
export function inventRow(shape: Shape, parents: Parents, chance: Chance): Row {
  const row: Row = {}
  for (const column of shape.columns.filter(isInvented)) invent(row, column, shape, chance)
  for (const reference of shape.references) follow(row, shape, reference, [parents, chance])
  return row
}

/** Invents some columns again, for example those of the check that has refused the row. */
export function inventAgain(
  row: Row,
  names: readonly string[],
  { shape, parents, chance }: { shape: Shape; parents: Parents; chance: Chance },
): void {
  const columns = shape.columns.filter((column) => names.includes(column.name) && isInvented(column))
  const changed = chance(2) === 0 ? columns : columns.slice(chance(columns.length)).slice(0, 1)
  for (const column of changed) invent(row, column, shape, chance)
  for (const reference of shape.references) {
    if (reference.columns.some((name) => changed.some((column) => column.name === name)))
      follow(row, shape, reference, [parents, chance])
  }
}

function isInvented({ is_generated, is_identity }: Column): boolean {
  return !is_generated && !is_identity
}

function invent(row: Row, column: Column, { checks }: Shape, chance: Chance): void {
  delete row[column.name]
  if (column.has_default && chance(2) === 0) return
  if (!column.is_required && chance(3) === 0) return
  const definitions = checks.filter(({ columns }) => columns.includes(column.name)).map((check) => check.definition)
  const values = valuesOf(column, definitions.join(' '), chance)
  row[column.name] = values[chance(values.length)]
}

type Parents = Record<string, Row[]>

/** Takes the columns of a foreign key from a row that it can refer to, or leaves them out. */
function follow(row: Row, { name, columns }: Shape, reference: Reference, [parents, chance]: [Parents, Chance]): void {
  const { columns: own, table, referenced } = reference
  const optional = own.filter((column) => !columns.find((known) => known.name === column)?.is_required)
  const parent = table === name ? undefined : parentFor(row, parents[table] ?? [], chance)
  if (parent === undefined || optional.some((column) => row[column] === undefined)) {
    for (const column of optional) delete row[column]
    return
  }
  for (const [at, column] of own.entries()) row[column] = parent[referenced[at] as string]
}

/** Prefers rows of the same organization. */
function parentFor(row: Row, rows: Row[], chance: Chance): Row | undefined {
  const related = rows.filter(({ org_id }) => org_id === row.org_id)
  const candidates = related.length > 0 ? related : rows
  return candidates[chance(Math.max(1, candidates.length))]
}

/** Values of the column's type. Texts are those that the checks name, and some of usual forms. */
function valuesOf(column: Column, definitions: string, chance: Chance): unknown[] {
  const { name, type } = column
  const hex = createHash('sha256')
    .update(String(chance(2 ** 31)))
    .digest('hex')
  const named = [...definitions.matchAll(/'([^']*)'::text/g)].map(([, text = '']) => text)
  const at = new Date(Date.UTC(2026, 9, 1) + chance(30 * 86_400_000)).toISOString()
  if (type.endsWith('[]')) {
    const elements = valuesOf({ ...column, type: type.slice(0, -2) }, definitions, chance)
    return [[], ...elements.map((element) => [element])]
  }
  switch (type) {
    case 'uuid':
      return [`${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`]
    case 'text':
      return textsOf(name, hex, named, chance)
    case 'bytea':
      return [64, 32, 16].map((digits) => `\\x${hex.slice(0, digits)}`)
    case 'boolean':
      return [true, false]
    case 'jsonb':
      return [{}, [], { name: 'example' }, ['example'], 'example']
    case 'timestamp with time zone':
      return [at]
    case 'date':
      return [at.slice(0, 10)]
    case 'smallint':
    case 'integer':
    case 'bigint':
      return [0, 1, 2, 3, 7, 10, 256, 1 + chance(10_000)]
    case 'double precision':
    case 'real':
    case 'numeric':
      return [0, 0.5, 1, chance(10)]
    default:
      throw new Error(`nothing is known about the type ${type} of ${name}`)
  }
}

/** Texts that the checks name or whose form they demand, otherwise some of usual forms. */
function textsOf(column: string, hex: string, named: string[], chance: Chance): string[] {
  const usual = [`${column.slice(0, 12)} ${hex.slice(0, 6)}`, hex.slice(0, 40), column, `sha256:${hex}`]
  const patterns = named.filter((text) => text.startsWith('^')).map((text) => new RegExp(text))
  if (patterns.length > 0) {
    const forms = [hex, hex.slice(0, 32), `1-${hex.slice(0, 24)}`, 'example.changed', `example-${hex.slice(0, 6)}`]
    return [...forms, ...named].filter((text) => patterns.every((pattern) => pattern.test(text)))
  }
  if (named.length > 0 && chance(8) > 0) return named
  return /sha|commit/.test(column) ? [hex.slice(0, 40)] : usual
}
