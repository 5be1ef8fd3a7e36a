import { parseArray } from './array.parser.ts'

/** Numbers of types in PostgreSQL's catalogue `pg_type`. */
export const TYPE = {
  boolean: 16,
  bytea: 17,
  bigint: 20,
  json: 114,
  timestamptz: 1184,
  jsonb: 3802,
} as const

/** The type of the elements of each array type that can be a parameter or a column. */
const ELEMENTS: Record<number, number> = {
  199: 114, // json[]
  1000: 16, // boolean[]
  1001: 17, // bytea[]
  1002: 18, // "char"[]
  1003: 19, // name[]
  1005: 21, // smallint[]
  1007: 23, // integer[]
  1009: 25, // text[]
  1014: 1042, // char[]
  1015: 1043, // varchar[]
  1016: 20, // bigint[]
  1021: 700, // real[]
  1022: 701, // double precision[]
  1028: 26, // oid[]
  1041: 869, // inet[]
  1115: 1114, // timestamp[]
  1182: 1082, // date[]
  1183: 1083, // time[]
  1185: 1184, // timestamptz[]
  1187: 1186, // interval[]
  1231: 1700, // numeric[]
  2210: 2205, // regclass[]
  2951: 2950, // uuid[]
  3221: 3220, // pg_lsn[]
  3807: 3802, // jsonb[]
}

type Parse = (text: string) => unknown

const parseDate: Parse = (text) => new Date(text)
/** Types that are not listed are read as text. */
const PARSERS: Record<number, Parse> = {
  16: (text) => text === 't',
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  20: Number,
  21: Number,
  23: Number,
  26: Number,
  114: JSON.parse,
  700: Number,
  701: Number,
  1082: parseDate,
  1114: parseDate,
  1184: parseDate,
  3802: JSON.parse,
}
for (const [array, element] of Object.entries(ELEMENTS)) {
  const parse = PARSERS[element]
  PARSERS[Number(array)] = (text) => parseArray(text, parse)
}

/** How to read a column of a type; undefined for text. */
export function getParser(type: number): Parse | undefined {
  return PARSERS[type]
}

/**
 * The type that a parameter is declared with: 0 for the one that PostgreSQL infers from the
 * statement.
 */
export function getDeclaredType(value: unknown): number {
  if (typeof value === 'boolean') return TYPE.boolean
  if (typeof value === 'bigint') return TYPE.bigint
  if (typeof value !== 'object') return 0
  if (value instanceof Date) return TYPE.timestamptz
  return value instanceof Uint8Array ? TYPE.bytea : 0
}

/** Writes a parameter as the type that PostgreSQL has for it. */
export function formatValue(value: unknown, type: number): string | Buffer | null {
  if (value === null) return null
  if (typeof value === 'string') return formatText(value, type)
  switch (type) {
    case TYPE.json:
    case TYPE.jsonb:
      return JSON.stringify(value)
    case TYPE.bytea:
      return Buffer.from(value as Uint8Array)
    case 1082:
    case 1114:
    case TYPE.timestamptz:
      return new Date(value as Date).toISOString()
  }
  const element = ELEMENTS[type]
  if (Array.isArray(value) && element !== undefined) return formatArray(value, element)
  // Otherwise, it would be stored as "[object Object]".
  if (typeof value === 'object') throw new TypeError(`An object cannot be written as type ${type} of PostgreSQL.`)
  return String(value)
}

function formatText(text: string, type: number): string | Buffer {
  switch (type) {
    case TYPE.json:
    case TYPE.jsonb:
      return JSON.stringify(text)
    case TYPE.bytea:
      return Buffer.from(text)
    case 1082:
    case 1114:
    case TYPE.timestamptz:
      return new Date(text).toISOString()
  }
  return text
}

function formatArray(values: readonly unknown[], element: number): string {
  return `{${values.map((value) => formatElement(value, element)).join(',')}}`
}

function formatElement(value: unknown, element: number): string {
  if (value === undefined) throw new UndefinedValueError()
  if (value === null) return 'null'
  if (Array.isArray(value) && element !== TYPE.json && element !== TYPE.jsonb) return formatArray(value, element)
  const text = formatValue(value, element)
  const literal = typeof text === 'string' ? text : `\\x${(text as Buffer).toString('hex')}`
  return `"${literal.replace(/["\\]/g, '\\$&')}"`
}

/** `null` is meant to be written as such. */
export class UndefinedValueError extends TypeError {
  readonly code = 'UNDEFINED_VALUE'

  constructor() {
    super('Undefined values are not allowed')
  }
}
