import { hash, type KeyObject } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { type Static, type TProperties, Type } from 'typebox'
import { DAY_MS } from '../clock.ts'
import { openToken, sealToken } from '../crypto/token.ts'
import { createInvalidFieldError, invalidCursor } from './errors.ts'
import { sendJson } from './responses.ts'
import { Closed } from './schemas.ts'

const CURSOR_LIFETIME_MS = DAY_MS
const CURSOR_CHARS_MAX = 2048

/** The query of a list: page size, cursor, and the filters of the route. */
export function definePageQuery<Filters extends TProperties>(limitMax: number, limitDefault: number, filters: Filters) {
  return Closed({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limitMax,
        default: limitDefault,
        description: 'The maximum number of items per page.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: CURSOR_CHARS_MAX,
        description: 'The `next_cursor` of the previous page. It is valid for 24 hours.',
      }),
    ),
    ...filters,
  })
}

/** The time window that most lists accept (specification, "Shared list parameters"). */
export const windowFilters = {
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Return only items that were created at or after this time. By default, items that were created within the data ' +
        'retention, and older ones that are not over, or were not before it: open findings, waiting deployments, runs that ' +
        'have not ended.',
    }),
  ),
  until: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Return only items that were created at or before this time. Defaults to now.',
    }),
  ),
}

/** For lists that can count what matches their filters. */
export const countFilter = {
  count: Type.Optional(
    Type.Boolean({ description: 'Whether to count in `meta.matching` how many items match on all pages together.' }),
  ),
}

const AnyPageQuery = definePageQuery(1, 1, windowFilters)
type AnyPageQuery = Static<typeof AnyPageQuery>

type AskedWindow = [since: number | null, until: number | null]

/**
 * Where a page starts and what it may contain. Stores sort by (created_at, id), newest first; some
 * by a number first.
 */
export type Page = {
  since: Date
  until: Date
  retentionClamped: boolean
  limit: number
  /**
   * The window that the caller sent with page 1, in Unix milliseconds. Later pages may repeat it.
   */
  asked: AskedWindow
  /** The last row of the previous page. */
  after: Position | null
}

/** How many rows match: exactly, or `count` and more. */
export type Matching = { count: number; exact: boolean }

/** A row's position in the list. `sort_value` is what the list is sorted by first, if anything. */
export type Position = { created_at: Date; id: string; sort_value?: number | null }

/** A row as a store returns it: the wire form as JSON, as text or in UTF-8, and its position. */
export type PageRow<Json extends string | Buffer = string> = Position & { json: Json }

type CursorPayload = {
  /** Hash of what the cursor is bound to: route, organization and filters. */
  b: string
  /** Effective window. */
  w: [since: number, until: number]
  q: AskedWindow
  c: 0 | 1
  /** Last row. */
  a: [createdAt: number, id: string, sortValue: number | null]
  x: number
}

export type ListContext = { route: string; orgId: string; retentionDays: number; now: Date; key: KeyObject }

/**
 * Reads the page from the query: with a new window, or the cursor's. Throws 400 `invalid_request`
 * or `invalid_cursor`.
 */
export function readPage(query: AnyPageQuery & Record<string, unknown>, context: ListContext): Page {
  const limit = query.limit as number
  return query.cursor === undefined
    ? { ...freshWindow(query, context), limit, after: null }
    : resume(query, limit, context)
}

function freshWindow(query: AnyPageQuery, { now, retentionDays }: ListContext) {
  const retainedSince = new Date(now.getTime() - retentionDays * DAY_MS)
  const asked = query.since === undefined ? null : new Date(query.since)
  const until = query.until === undefined ? now : new Date(query.until)
  if (asked && asked > until) throw createInvalidFieldError('/query/since', 'must not be later than until')
  const retentionClamped = asked !== null && asked < retainedSince
  return {
    since: asked && !retentionClamped ? asked : retainedSince,
    until,
    retentionClamped,
    asked: [asked?.getTime() ?? null, query.until === undefined ? null : until.getTime()] as AskedWindow,
  }
}

function resume(query: AnyPageQuery & Record<string, unknown>, limit: number, context: ListContext): Page {
  const cursor = openToken<CursorPayload>(context.key, query.cursor as string)
  if (!cursor || cursor.b !== binding(query, context) || cursor.x <= context.now.getTime()) throw invalidCursor()
  const [since, until] = cursor.w
  if (!repeats(query.since, since, cursor.q[0]) || !repeats(query.until, until, cursor.q[1])) throw invalidCursor()
  return {
    since: new Date(since),
    until: new Date(until),
    retentionClamped: cursor.c === 1,
    limit,
    asked: cursor.q,
    after: { created_at: new Date(cursor.a[0]), id: cursor.a[1], sort_value: cursor.a[2] },
  }
}

/** A later page may omit the window, or repeat it as it was sent or as `meta` showed it. */
function repeats(given: string | undefined, effective: number, asked: number | null): boolean {
  if (given === undefined) return true
  const time = Date.parse(given)
  return time === effective || time === asked
}

function binding(query: Record<string, unknown>, { route, orgId }: ListContext): string {
  const { limit: _limit, cursor: _cursor, count: _count, since: _since, until: _until, ...filters } = query
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([route, orgId, sorted]), 'base64url')
}

type SentPage = {
  /** Up to `page.limit + 1` rows. The extra one shows that there is a next page. */
  rows: PageRow<string | Buffer>[]
  page: Page
  query: AnyPageQuery & Record<string, unknown>
  context: ListContext
  /** How many rows there are in all, if somebody asked. */
  matching?: Matching | null
}

export function sendPage(reply: FastifyReply, { rows, page, query, context, matching }: SentPage): FastifyReply {
  const shown = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? shown.at(-1) : undefined
  const next = last ? sealCursor(last, page, query, context) : null
  const window = { since: page.since, until: page.until, retention_clamped: page.retentionClamped }
  const meta = { ...window, ...(matching && { matching }) }
  const end = `],"next_cursor":${JSON.stringify(next)},"meta":${JSON.stringify(meta)}}`
  return sendJson(reply, joinJson('{"data":[', shown, end))
}

const COMMA = Buffer.from(',')

/** To join the rows as text and to encode that takes three times as long. */
function joinJson(start: string, rows: readonly PageRow<string | Buffer>[], end: string): Buffer {
  const parts = rows.flatMap(({ json }) => [COMMA, typeof json === 'string' ? Buffer.from(json) : json])
  return Buffer.concat([Buffer.from(start), ...parts.slice(1), Buffer.from(end)])
}

function sealCursor(last: Position, page: Page, query: AnyPageQuery & Record<string, unknown>, context: ListContext) {
  const payload: CursorPayload = {
    b: binding(query, context),
    w: [page.since.getTime(), page.until.getTime()],
    q: page.asked,
    c: page.retentionClamped ? 1 : 0,
    a: [last.created_at.getTime(), last.id, last.sort_value ?? null],
    x: context.now.getTime() + CURSOR_LIFETIME_MS,
  }
  return sealToken(context.key, payload)
}
