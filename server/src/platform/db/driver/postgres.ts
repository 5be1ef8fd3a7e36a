import { registerHooks } from 'node:module'
import type Postgres from 'postgres'

type Correction = readonly [from: string, to: string]

/**
 * A connection that is lost at the wrong moment ends the process or never sends again (issues 1066,
 * 1154 and 1208 of postgres.js):
 * - what was still to be sent belongs to the lost connection, not to the next one;
 * - a query on a connection that was lost fails, instead of writing to a socket that is gone;
 * - a failed query for the types of arrays is the failure of whoever needs the connection;
 * - a query that is sent between the error of a connection and its end fails, too: it and all that
 *   follow on the connection would wait forever. One that has failed does not fail again.
 */
const LOST_CONNECTIONS: Correction[] = [
  [
    '  function nextWrite(fn) {\n',
    `  function forgetWrites() {
    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
  }

  function nextWrite(fn) {
    if (socket === null) {
      forgetWrites()
      error(Errors.connection('CONNECTION_CLOSED', options, socket))
      return true
    }
`,
  ],
  ['    clearImmediate(nextWriteTimer)\n    if (socket) {', '    forgetWrites()\n    if (socket) {'],
  ['    incomings = null\n    clearImmediate(nextWriteTimer)\n', '    incomings = null\n    forgetWrites()\n'],
  ['        return fetchArrayTypes()', '        return fetchArrayTypes().catch(noop)'],
  ['    !hadError && (query || sent.length) && error(', '    if (query || sent.length)\n      error('],
  ['    errored(err)\n    while (sent.length)\n', '    errored(err)\n    query = null\n    while (sent.length)\n'],
]

/**
 * A transaction, or whoever has reserved a connection, does not use the connection any more when it
 * was lost: what they still send fails, and is not released again. Otherwise, it would be part of
 * somebody else's transaction, or of none, as soon as the connection is open again; and others
 * would send statements into a transaction, or wait for their results forever.
 */
const LOST_TRANSACTIONS: Correction[] = [
  ['    let savepoints = 0\n', '    let savepoints = 0\n      , lost = null\n'],
  [
    '        new Promise((_, reject) => connection.onclose = reject)\n',
    `        new Promise((_, reject) => {
          const onclose = error => {
            lost = error
            while (queries.length) queries.shift().reject(error)
            reject(error)
          }
          connection.onclose = onclose
        })
`,
  ],
  [
    '        q.catch(e => uncaughtError || (uncaughtError = e))\n',
    `        q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
`,
  ],
]
const LOST_RESERVATIONS: Correction[] = [
  [
    '    c.reserved = () => queue.length\n',
    `    let lost = null
    const onclose = error => {
      lost = error
      while (queue.length) queue.shift().reject(error)
    }
    c.onclose = onclose
    c.reserved = () => queue.length
`,
  ],
  [
    '    sql.release = () => {\n',
    `    sql.release = () => {
      if (lost)
        return
`,
  ],
  [
    '    function handler(q) {\n      c.queue === full\n        ? queue.push(q)',
    `    function handler(q) {
      if (lost)
        return q.reject(lost)
      c.queue === full
        ? queue.push(q)`,
  ],
]

/**
 * V8 allocates a function that is assigned to a property in the old generation, where it keeps all
 * that it refers to, here a query with its result, until the next major garbage collection: minor
 * ones took 15 ms instead of 2. A function that is first assigned to a variable is allocated in the
 * young generation.
 */
const QUERY_FUNCTIONS: Correction[] = [
  [
    '    this.resolve = x => (this.active = false, resolve(x))\n',
    '    const settle = x => (this.active = false, resolve(x))\n    this.resolve = settle\n',
  ],
  [
    '    this.reject = x => (this.active = false, reject(x))\n\n',
    '    const fail = x => (this.active = false, reject(x))\n    this.reject = fail\n\n',
  ],
]
const TRANSACTION_FUNCTIONS: Correction[] = [
  [
    '      acc[name] = (x) => new Parameter(x, type.to)\n',
    '      const toParameter = (x) => new Parameter(x, type.to)\n      acc[name] = toParameter\n',
  ],
  ['      sql.prepare = x => prepare = ', '      const prepareAs = x => prepare = '],
  ['      let uncaughtError\n', '      sql.prepare = prepareAs\n      let uncaughtError\n'],
  ['      c.reserved = () => queries.length', '      const next = () => queries.length'],
  [
    'c.execute(queries.shift())\n        : move(c, reserved)\n    }\n  }\n',
    'c.execute(queries.shift())\n        : move(c, reserved)\n      c.reserved = next\n    }\n  }\n',
  ],
]

/**
 * Corrections of postgres.js 3.4.9 by file. The version is pinned. Another one does not start if
 * these lines have changed.
 */
const CORRECTIONS: Record<string, Correction[]> = {
  'connection.js': LOST_CONNECTIONS,
  'query.js': QUERY_FUNCTIONS,
  'index.js': [...LOST_TRANSACTIONS, ...LOST_RESERVATIONS, ...TRANSACTION_FUNCTIONS],
}
const FOLDER = '/postgres/src/'

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const corrections = url.includes(FOLDER) && CORRECTIONS[url.slice(url.lastIndexOf('/') + 1)]
    return corrections ? { ...loaded, source: correct(String(loaded.source), corrections) } : loaded
  },
})

/** postgres.js, corrected. */
export const postgres: typeof Postgres = (await import('postgres')).default
hooks.deregister()

function correct(source: string, corrections: Correction[]): string {
  return corrections.reduce((corrected, [from, to]) => {
    const parts = corrected.split(from)
    if (parts.length !== 2) throw new Error(`This version of postgres.js does not fit ${import.meta.filename}`)
    return parts.join(to)
  }, source)
}
