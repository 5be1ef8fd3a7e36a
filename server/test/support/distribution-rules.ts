import { ENDED_REFERENCES, getTablePlace, type TablePlace } from '../../src/distribution/table-places.ts'

type Reference = { columns: string[]; to: string; toColumns: string[] }
type Table = { name: string; columns: string[]; required: string[]; keys: string[]; references: Reference[] }
type Schema = { tables: Table[]; triggers: { name: string; table: string }[] }

const TABLE = /^create table (\w+) \(\n([\s\S]*?)\n\)/gm
const KEY = /(?:PRIMARY KEY|UNIQUE(?: NULLS NOT DISTINCT)?) \(([^)]+)\)/g
const REFERENCE = /FOREIGN KEY \(([^)]+)\) REFERENCES (\w+)\(([^)]+)\)/g
const INDEX = /^CREATE UNIQUE INDEX \w+ ON public\.(\w+) USING \w+ \((.*?)\)(?: NULLS NOT DISTINCT)?(?: WHERE .*)?;$/gm
const TRIGGER = /^CREATE TRIGGER (\w+) .*? ON public\.(\w+) /gm
const COLUMN = /^ {2}(?!constraint )"?(\w+)"? (.*?),?$/gm

/** The tables, keys, references and triggers of `schema.sql`. */
export function readSchema(text: string): Schema {
  const indexes = Array.from(text.matchAll(INDEX), ([, table = '', key = '']) => ({ table, key }))
  const tables = Array.from(text.matchAll(TABLE), ([, name = '', body = '']) => {
    const columns = Array.from(body.matchAll(COLUMN), ([, column = '', type = '']) => ({ column, type }))
    const ofIndexes = indexes.filter(({ table }) => table === name).map(({ key }) => key)
    return {
      name,
      columns: columns.map(({ column }) => column),
      required: columns.filter(({ type }) => type.includes(' not null')).map(({ column }) => column),
      keys: [...Array.from(body.matchAll(KEY), ([, key = '']) => key), ...ofIndexes],
      references: Array.from(body.matchAll(REFERENCE), ([, from = '', to = '', toColumns = '']) => ({
        columns: from.split(', '),
        to,
        toColumns: toColumns.split(', '),
      })),
    }
  })
  const triggers = Array.from(text.matchAll(TRIGGER), ([, name = '', table = '']) => ({ name, table }))
  return { tables, triggers }
}

/** What keeps a schema from several database servers, a line each. */
export function brokenRules({ tables, triggers }: Schema): string[] {
  const places = new Map(tables.map(({ name, columns }) => [name, getTablePlace(name, columns.includes('org_id'))]))
  return [
    ...tables.filter(({ name }) => places.get(name) === null).map(({ name }) => `${name} is in no list of places`),
    ...tables.filter(({ name }) => places.get(name) === 'distributed').flatMap(brokenKeys),
    ...tables.flatMap((table) => table.references.flatMap((reference) => brokenReference(table, reference, places))),
    ...triggers
      .filter(({ table }) => places.get(table) !== 'local')
      .map(({ name, table }) => `The trigger ${name} on ${table} would run on another server`),
  ]
}

function brokenKeys({ name, required, keys }: Table): string[] {
  return [
    ...(required.includes('org_id') ? [] : [`${name}.org_id may be null`]),
    ...keys
      .filter((key) => !/^org_id\b/.test(key))
      .map((key) => `The key (${key}) of ${name} does not begin with org_id`),
  ]
}

type Places = ReadonlyMap<string, TablePlace | null>

function brokenReference({ name }: Table, { columns, to, toColumns }: Reference, places: Places): string[] {
  const [from, target] = [places.get(name), places.get(to)]
  if (from === 'distributed' && target === 'distributed') {
    const both = columns.indexOf('org_id') !== -1 && columns.indexOf('org_id') === toColumns.indexOf('org_id')
    return both ? [] : [`${name} refers to ${to} without org_id on both sides`]
  }
  if (from === target || (from === 'distributed' && target === 'reference')) return []
  if (from === 'distributed' && to in ENDED_REFERENCES) return []
  return [`${name} (${from}) refers to ${to} (${target})`]
}

/** A join, with the rest of its statement. */
const JOIN = /\bjoin (\w+)(?: (?!on\b|lateral\b)(\w+))?\s+on\b(.*(?:\n.+)*?)(?=\n\n|\n\}|`;?\n|$)/g

/**
 * Joins with tables of organizations that do not name the organization, a line each: on several
 * servers, they would need rows of all of them.
 */
export function brokenJoins({ tables }: Schema, sources: readonly { path: string; text: string }[]): string[] {
  const distributed = new Set(
    tables
      .filter(({ name, columns }) => getTablePlace(name, columns.includes('org_id')) === 'distributed')
      .map(({ name }) => name),
  )
  return sources.flatMap(({ path, text }) =>
    Array.from(text.matchAll(JOIN))
      .filter(([, table = '']) => distributed.has(table))
      .filter(
        ([, table = '', alias = table, rest = '']) => !rest.includes(`${alias}.org_id`) && !rest.includes(`'${alias}'`),
      )
      .map(([, table]) => `${path} joins ${table} without its org_id`),
  )
}
