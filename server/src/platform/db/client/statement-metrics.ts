import type { Log } from '../../log.ts'
import { defineCounter, defineGauge, defineHistogram } from '../../metrics.ts'
import { getCurrentWork, startSpan, type Work } from '../../tracing.ts'
import { isUnreachable } from '../../unreachable.ts'

/** What is measured of a statement, from when it is asked for until it has ended. */
export type MeasuredStatement = {
  /** The parts of a template, which name the statement. */
  readonly strings: readonly string[]
  /** The text without values. */
  readonly text: string
  /** Whether it was sent; otherwise, it waits for a connection. */
  readonly isSent: boolean
  readonly measured: Measured
}

export type Measured = {
  /** Where the statement is in `inFlight`. */
  place: number
  startedAt: number
  work: Work | undefined
}

const seconds = defineHistogram(
  'shiplock_database_statement_duration_seconds',
  'Time from the request for a database statement to its result, with the wait for a connection.',
  ['kind', 'outcome'],
)
const unreachable = defineCounter(
  'shiplock_database_unreachable_total',
  'Database statements that failed because the database could not be reached.',
)
/**
 * No Set: its former tables refer to the ones after them, so that a former one in the old
 * generation would keep all queries since then.
 */
const inFlight: MeasuredStatement[] = []
const states = { running: 0, waiting: 0 }
defineGauge(
  'shiplock_database_statements',
  'Database statements in progress: running, or waiting for a connection.',
  ['state'],
  function () {
    Object.assign(states, { running: 0, waiting: 0 })
    for (const { isSent } of inFlight) states[isSent ? 'running' : 'waiting'] += 1
    for (const [state, count] of Object.entries(states)) this.set({ state }, count)
  },
)

type SlowLog = { log: Log; slowMs: number }
let slowLog: SlowLog | null = null

/** Logs the statements that take at least `slowMs`, without their values. */
export function logSlowStatements(settings: SlowLog | null): void {
  slowLog = settings
}

export function startMeasurement(statement: MeasuredStatement): void {
  const { measured } = statement
  measured.startedAt = performance.now()
  measured.work = getCurrentWork()
  measured.place = inFlight.push(statement) - 1
}

const STATEMENT_CHARS_MAX = 4000

export function stopMeasurement(statement: MeasuredStatement, error?: Error): void {
  if (!leave(statement)) return
  const { startedAt, work } = statement.measured
  const ms = performance.now() - startedAt
  const name = parseStatementName(statement)
  seconds.observe({ kind: name.kind, outcome: error === undefined ? 'ok' : 'failed' }, ms / 1000)
  if (error !== undefined && isUnreachable(error)) unreachable.inc()
  if (slowLog && ms >= slowLog.slowMs) {
    const text = statement.text.replace(/\s+/g, ' ').trim().slice(0, STATEMENT_CHARS_MAX)
    const fields = { ...work?.fields, statement: text, duration_ms: Math.round(ms) }
    slowLog.log.warn(fields, 'Slow database statement')
  }
  if (work?.span) trace(name, startedAt, work.span.traceparent, error)
}

/** The last statement takes its place. Returns false if it has left already. */
function leave(statement: MeasuredStatement): boolean {
  const { place } = statement.measured
  if (place < 0) return false
  statement.measured.place = -1
  const last = inFlight.pop() as MeasuredStatement
  if (last === statement) return true
  last.measured.place = place
  inFlight[place] = last
  return true
}

function trace({ kind, table }: StatementName, startedAt: number, parent: string, error: Error | undefined): void {
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

function parseStatementName({ strings, text }: MeasuredStatement): StatementName {
  const known = names.get(strings)
  if (known) return known
  const word = /^\s*([a-z]+)/.exec(text)?.[1] ?? ''
  const table = /\b(?:from|into|update)\s+(?:only\s+)?((?:[a-z_]+\.)?[a-z_]+)/.exec(text)?.[1] ?? null
  const name = { kind: KINDS.includes(word) ? word : 'other', table }
  names.set(strings, name)
  return name
}
