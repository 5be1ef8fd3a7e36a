import { Query, type Runner } from './query.ts'
import { type Fragment, Helper, TypedValue } from './template.ts'
import { TYPE } from './types.ts'

type Scalar = string | number | bigint | boolean | null | Date | Uint8Array
type Value = Scalar | TypedValue | readonly Value[]
type Argument = Value | Fragment | Helper | readonly Fragment[]

/** The type of a row is what its reader declares. */
// biome-ignore lint/suspicious/noExplicitAny: columns have any type
type Row = Record<string, any>

/** A statement's template, or names and rows in one. */
interface Tag {
  <First extends string | object>(
    first: First & (First extends { raw: readonly string[] } ? never : unknown),
    ...columns: readonly string[]
  ): Helper
  <Result extends readonly (object | undefined)[] = Row[]>(
    strings: TemplateStringsArray,
    ...values: readonly Argument[]
  ): Query<Result>
}

/** What sends statements. */
export interface Statements extends Tag {
  /** Text that is part of our code. As part of a template, it is put in as it is. */
  unsafe<Result extends readonly (object | undefined)[] = Row[]>(
    text: string,
    values?: readonly unknown[],
  ): Query<Result>
  /** A value that is stored as JSON. */
  json(value: unknown): TypedValue
}

export interface Transaction extends Statements {
  /** Runs a part of the transaction, which is undone if it fails. */
  savepoint<Result>(work: (tx: Transaction) => Result | Promise<Result>): Promise<Result>
}

/** A connection of one's own. */
export interface ReservedConnection extends Statements {
  release(): void
}

const json = (value: unknown) => new TypedValue(value, TYPE.jsonb)

export function createStatements(run: Runner): Statements {
  const tag = (first: unknown, ...rest: unknown[]) => {
    if (!isTemplate(first)) return new Helper(first, rest as string[])
    return new Query({ strings: first, values: rest }, 'prepared', run)
  }
  const unsafe = (text: string, values: readonly unknown[] = []) =>
    new Query({ strings: [text], values }, values.length > 0 ? 'unnamed' : 'simple', run)
  return Object.assign(tag, { unsafe, json }) as unknown as Statements
}

function isTemplate(first: unknown): first is TemplateStringsArray {
  return Array.isArray(first) && 'raw' in first
}
