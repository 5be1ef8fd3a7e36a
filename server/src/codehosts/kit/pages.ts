import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { type HostPage, HostRefusal, type ListResult } from '../code-host.ts'
import { type AnswerParser, type Parse, readAs } from './payload.ts'

/** A page of one of several lists that are merged. Its items are sorted by age, newest first. */
export type PartPage<Item> = { items: Item[]; next: string | null }

type Options<Item> = {
  /** The lists that are merged, by id. */
  parts: readonly number[]
  read: (part: number, token: string | null) => Promise<PartPage<Item>>
  timeOf: (item: Item) => Date
}

/**
 * Merges lists that are sorted by age to one that is. A page holds the items that are newer than
 * everything that was not read yet; a list whose page has older items is read there again.
 */
export async function mergePages<Item>(
  { parts, read, timeOf }: Options<Item>,
  next: string | null | undefined,
): Promise<PartPage<Item>> {
  const cursor = next ? readAs(Cursor, JSON.parse(next)) : { until: null, tokens: parts.map((part) => [part, null]) }
  const tokens = cursor.tokens as [number, string | null][]
  const pages = await Promise.all(tokens.map(async ([part, token]) => ({ part, token, page: await read(part, token) })))
  const end = Math.max(0, ...pages.map(({ page }) => (page.next === null ? 0 : getOldestTime(page, timeOf))))
  const left = pages.flatMap(({ part, token, page }): [number, string | null][] => {
    if (getOldestTime(page, timeOf) < end) return [[part, token]]
    return page.next === null ? [] : [[part, page.next]]
  })
  const items = pages
    .flatMap(({ page }) => page.items)
    .filter(
      (item) => timeOf(item).getTime() >= end && (cursor.until === null || timeOf(item).getTime() <= cursor.until),
    )
    .sort((one, other) => timeOf(other).getTime() - timeOf(one).getTime())
  return { items, next: left.length === 0 ? null : JSON.stringify({ until: end, tokens: left }) }
}

const Cursor = Type.Object({
  /** Newer items were on earlier pages. */
  until: Type.Union([Type.Number(), Type.Null()]),
  tokens: Type.Array(Type.Tuple([Type.Integer(), Type.Union([Type.String(), Type.Null()])])),
})

function getOldestTime<Item>({ items }: PartPage<Item>, timeOf: (item: Item) => Date): number {
  const oldest = items.at(-1)
  return oldest === undefined ? Number.MAX_SAFE_INTEGER : timeOf(oldest).getTime()
}

/** A position in a list as we stored it. Null for none, and for one of an earlier version. */
export function parseCursor<Schema extends TSchema>(schema: Schema, next: string | undefined): Static<Schema> | null {
  try {
    const cursor: unknown = JSON.parse(next ?? '')
    return Value.Check(schema, cursor) ? cursor : null
  } catch {
    return null
  }
}

/** The page of a list that may not be read. */
export const NO_ACCESS: HostPage<never> = { items: [], next: null, etag: null }

/** The page of a list, or one without items that states why the host refuses it. */
export async function readRefusable<Item>(page: Promise<ListResult<Item>>): Promise<ListResult<Item>> {
  try {
    return await page
  } catch (error) {
    if (!(error instanceof HostRefusal)) throw error
    return { ...NO_ACCESS, refusal: error }
  }
}

/** A page as its host sent it. */
export type RawPage = { values: unknown[]; next: string | null }

/** All values of a list as its host sent them. `complete` is false if the host has more. */
export type WholeList = { values: unknown[]; complete: boolean }

/** The items of a whole list. It is complete only if each of its values could be read. */
export function parseWholeList<Item>(
  api: AnswerParser,
  { values, complete }: WholeList,
  parse: Parse<Item>,
): { items: Item[]; complete: boolean } {
  const items = api.parseItems(values, parse)
  return { items, complete: complete && items.length === values.length }
}
