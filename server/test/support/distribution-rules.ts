import { ENDED_REFERENCES, placeOf, type TablePlace } from '../../src/distribution/table-places.ts'

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
  const places = new Map(tables.map(({ name, columns }) => [name, placeOf(name, columns.includes('org_id'))]))
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
