import type { HostPage } from '../code-host.ts'
import type { AnswerParser, Parse } from './answer-parser.ts'

/** The page of a list that may not be read. */
export const NO_ACCESS: HostPage<never> = { items: [], next: null, etag: null }

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
