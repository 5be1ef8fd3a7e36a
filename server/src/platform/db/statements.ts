import type { Log } from '../log.ts'
import { counter, gauge, histogram } from '../telemetry/metrics.ts'
import { startSpan } from '../telemetry/tracing.ts'
import { isUnreachable } from '../unreachable.ts'
import { currentWork } from '../work.ts'

/** The parts of a query of postgres.js that show when it runs. */
type Query = {
  strings: readonly string[]
  /** The text with the numbers of parameters, once the query was given to a connection. */
  string?: string
  /** Null while the query waits for a connection. */
  state: object | null
  executed: boolean
  cursorFn?: unknown
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  /** Where the query is in `inFlight`. */
  place?: number | undefined
}

const seconds = histogram(
  'shiplock_database_statement_duration_seconds',
  'Time from the request for a database statement to its result, with the wait for a connection.',
  ['kind', 'outcome'],
)
const unreachable = counter(
  'shiplock_database_unreachable_total',
  'Database statements that failed because the database could not be reached.',
)
/**
 * No Set: its former tables refer to the ones after them, so that a former one in the old
 * generation would keep all queries since then.
 */
const inFlight: Query[] = []
const states = { running: 0, waiting: 0 }
gauge(
  'shiplock_database_statements',
  'Database statements in progress: running, or waiting for a connection.',
  ['state'],
  function () {
    Object.assign(states, { running: 0, waiting: 0 })
    for (const { state } of inFlight) states[state === null ? 'waiting' : 'running'] += 1
    for (const [state, count] of Object.entries(states)) this.set({ state }, count)
  },
)

type SlowLog = { log: Log; slowMs: number }
let slowLog: SlowLog | null = null

/** Logs the statements that take at least `slowMs`, without their values. */
export function logSlowStatements(settings: SlowLog | null): void {
  slowLog = settings
}

let isObserving = false

/**
 * Measures every statement of this process, given an example of a query. Statements of
 * transactions, and those that begin and end them, pass only through the query objects of
 * postgres.js, so their common method is replaced.
 */
export function observeStatements(example: object): void {
  if (isObserving) return
  isObserving = true
  const methods = Object.getPrototypeOf(example) as { handle(this: Query): unknown }
  const { handle } = methods
  methods.handle = function (this: Query) {
    // A cursor resolves once for each batch of rows.
    if (!this.executed && !this.cursorFn) observe(this)
    return handle.call(this)
  }
}

function observe(query: Query): void {
  const startedAt = performance.now()
  const work = currentWork()
  const { resolve, reject } = query
  const end = (error?: unknown) => {
    leave(query)
    const ms = performance.now() - startedAt
    const name = nameOf(query)
    seconds.observe({ kind: name.kind, outcome: error === undefined ? 'ok' : 'failed' }, ms / 1000)
    if (error !== undefined && isUnreachable(error)) unreachable.inc()
    if (slowLog && ms >= slowLog.slowMs) logSlow(slowLog.log, query, ms, work?.fields)
    if (work?.span) trace(name, startedAt, work.span.traceparent, error)
  }
  query.place = inFlight.push(query) - 1
  // Not assigned at once, which V8 would take for functions that stay (`driver/postgres.ts`).
  const resolved = (result: unknown) => {
    end()
    resolve(result)
  }
  const rejected = (error: unknown) => {
    end(error)
    reject(error)
  }
  Object.assign(query, { resolve: resolved, reject: rejected })
}

/**
 * The last query takes its place. A COPY resolves twice: with its stream, and when it has ended.
 */
function leave(query: Query): void {
  const { place } = query
  if (place === undefined) return
  query.place = undefined
  const last = inFlight.pop() as Query
  if (last === query) return
  last.place = place
  inFlight[place] = last
}

const STATEMENT_CHARS_MAX = 4000

function logSlow(log: Log, query: Query, ms: number, fields: object | undefined): void {
  const statement = textOf(query).replace(/\s+/g, ' ').trim().slice(0, STATEMENT_CHARS_MAX)
  log.warn({ ...fields, statement, duration_ms: Math.round(ms) }, 'Slow database statement')
}

function trace({ kind, table }: StatementName, startedAt: number, parent: string, error: unknown): void {
  startSpan({
    name: table === null ? kind : `${kind} ${table}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': kind,
      ...(table !== null && { 'db.collection.name': table }),
    },
    parent,
    startedAt: performance.timeOrigin + startedAt,
  })?.end(error)
}

type StatementName = { kind: string; table: string | null }

const KINDS = ['select', 'insert', 'update', 'delete', 'with', 'begin', 'commit', 'rollback', 'copy']
/** Most statements are templates, of which there are as many as in our code. */
const names = new WeakMap<readonly string[], StatementName>()

function nameOf(query: Query): StatementName {
  const known = names.get(query.strings)
  if (known) return known
  const text = textOf(query)
  const word = /^\s*([a-z]+)/.exec(text)?.[1] ?? ''
  const table = /\b(?:from|into|update)\s+(?:only\s+)?((?:[a-z_]+\.)?[a-z_]+)/.exec(text)?.[1] ?? null
  const name = { kind: KINDS.includes(word) ? word : 'other', table }
  names.set(query.strings, name)
  return name
}

function textOf({ string, strings }: Query): string {
  return string ?? strings.join('?')
}
