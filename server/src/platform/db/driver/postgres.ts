import { registerHooks } from 'node:module'
import type Postgres from 'postgres'

const FILE = '/postgres/src/connection.js'

/**
 * Corrections of postgres.js 3.4.9, in which a connection that is lost at the wrong moment
 * ends the process or never sends again (its issues 1066, 1154 and 1208):
 * - what was still to be sent belongs to the lost connection, not to the next one;
 * - a query on a connection that was lost fails, instead of writing to a socket that is gone;
 * - a failed query for the types of arrays is the failure of whoever needs the connection.
 * The version is pinned. Another one does not start if these lines have changed.
 */
const CORRECTIONS: readonly [from: string, to: string][] = [
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
]

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    return url.endsWith(FILE) ? { ...loaded, source: correct(String(loaded.source)) } : loaded
  },
})

/** postgres.js, corrected. */
export const postgres: typeof Postgres = (await import('postgres')).default
hooks.deregister()

function correct(source: string): string {
  return CORRECTIONS.reduce((corrected, [from, to]) => {
    const parts = corrected.split(from)
    if (parts.length !== 2) throw new Error(`This version of postgres.js does not fit ${import.meta.filename}`)
    return parts.join(to)
  }, source)
}
