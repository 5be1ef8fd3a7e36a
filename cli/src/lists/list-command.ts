import { type AnyCommand, type Context, defineCommand } from '@shiplock/command-line/command'
import { integerOption, type Option, UsageError } from '@shiplock/command-line/options'
import type { ListItem, ListPath, ListQuery, ShiplockClient } from '@shiplock/sdk'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { type Column, renderTable } from './table.ts'

/** A filter of the API. `parameter` is its name there, if it is not that of the option. */
export type Filter = Option & { parameter?: string; read?: (name: string, text: string) => string | number | boolean }

type ListDefinition<Path extends ListPath> = {
  name: string
  /** What is listed, if that is not the name. */
  noun?: string
  summary: string
  details: readonly string[]
  examples: readonly string[]
  path: Path
  /** The scope that the credential needs. */
  scope: string
  /** The most items that the API returns at once. */
  pageMax: number
  filters: Readonly<Record<string, Filter>>
  columns: readonly Column<ListItem<Path>>[]
}

const LIMIT = [1, 1_000_000] as const
const LIMIT_DEFAULT = 50

/** A command that lists what the API lists, with the same filters, and reads as many pages as needed. */
export function listCommand<Path extends ListPath>(list: ListDefinition<Path>): AnyCommand {
  const { name, summary, details, examples, filters } = list
  return defineCommand({
    name,
    summary,
    details: [...details, 'With --json, the items are one JSON array.'],
    examples,
    options: {
      ...filters,
      limit: { type: 'text', value: 'N', about: `the most items to print (by default ${LIMIT_DEFAULT})` },
      ...SERVER_OPTIONS,
    },
    async run({ options }, context) {
      const given: Readonly<Record<string, unknown>> = options
      const limit = integerOption('limit', options.limit ?? String(LIMIT_DEFAULT), LIMIT)
      const query = readFilters(filters, given)
      const client = connect(options, context)
      const found = await namingScope(list.scope, () => readItems(client, list, { query, limit }))
      print(list, found, context)
      return EXIT.ok
    },
  })
}

type Query = Record<string, string | number | boolean>

function readFilters(filters: Readonly<Record<string, Filter>>, given: Readonly<Record<string, unknown>>): Query {
  const query: Query = {}
  for (const [name, { parameter = name.replaceAll('-', '_'), read }] of Object.entries(filters)) {
    const text = given[name]
    if (typeof text === 'string') query[parameter] = read === undefined ? text : read(name, text)
  }
  return query
}

type Found<Item> = { items: Item[]; hasMore: boolean }

/** One item more than wanted tells whether there are more. */
async function readItems<Path extends ListPath>(
  client: ShiplockClient,
  { path, pageMax }: ListDefinition<Path>,
  { query, limit }: { query: Query; limit: number },
): Promise<Found<ListItem<Path>>> {
  const items: ListItem<Path>[] = []
  const pages = { ...query, limit: Math.min(limit + 1, pageMax) } as unknown as ListQuery<Path>
  for await (const item of client.list(path, { query: pages })) {
    if (items.length === limit) return { items, hasMore: true }
    items.push(item)
  }
  return { items, hasMore: false }
}

function print<Path extends ListPath>(
  { name, noun = name, columns }: ListDefinition<Path>,
  { items, hasMore }: Found<ListItem<Path>>,
  { output, env }: Context,
): void {
  const hasColours = output.columns !== null && !env.NO_COLOR && env.TERM !== 'dumb'
  if (output.json) output.write(JSON.stringify(items))
  else if (items.length > 0) output.write(renderTable(columns, items, { width: output.columns, hasColours }))
  else output.say(`There are no ${noun} that match`)
  if (hasMore) output.say(`There are more than these ${items.length} ${noun}; use --limit to print more`)
}

const PERIOD = /^(\d{1,4})([hdw])$/
const HOURS: Record<string, number> = { h: 1, d: 24, w: 7 * 24 }

/** Reads a time: RFC 3339, a date (UTC), or a period before now such as `7d`. */
function readTime(name: string, text: string): string {
  const [, count, unit = ''] = PERIOD.exec(text) ?? []
  if (count !== undefined) return new Date(Date.now() - Number(count) * (HOURS[unit] ?? 0) * 3_600_000).toISOString()
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text)
  if (isTime && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  throw new UsageError(`--${name} must be a date, a time such as 2026-11-30T12:00:00Z, or a period such as 7d`)
}

/** A filter by time. */
export function timeFilter(about: string, parameter?: string): Filter {
  return { type: 'text', value: 'TIME', about, read: readTime, ...(parameter && { parameter }) }
}

/** Filters of the lists that have a time window. */
export const WINDOW: Readonly<Record<string, Filter>> = {
  since: timeFilter('only those created at or after this time: a date, a time, or a period such as 7d'),
  until: timeFilter('only those created at or before this time'),
}

export const PROVIDER: Filter = {
  type: 'text',
  value: 'HOST',
  about: 'the code host of the repository',
  choices: ['github', 'gitlab', 'bitbucket', 'azure'],
}

/** The first characters of a commit id, as git shows it. */
export function shortCommit(sha: string | null): string {
  return sha?.slice(0, 10) ?? ''
}

/** A time in UTC to the minute. */
export function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}
