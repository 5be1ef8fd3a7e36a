import { createHash } from 'node:crypto'

/**
 * The host and path of a CI server as the API takes them (ci-evidence §8): the host in lower case,
 * without the default port and without a slash at the end. Undefined for what is no http address.
 */
export function formatServer(address: string | undefined, path: 'with path' | 'host only'): string | undefined {
  if (!address || !URL.canParse(address)) return undefined
  const { protocol, host, pathname } = new URL(address)
  if (!/^https?:$/.test(protocol) || host === '') return undefined
  return path === 'host only' ? host : `${host}${pathname.replace(/(?<!\/)\/+$/, '')}`
}

/** Puts parts together that are known. Undefined if none is. */
export function joinParts(...parts: (string | undefined)[]): string | undefined {
  const known = parts.filter((part) => part !== undefined && part !== '')
  return known.length === 0 ? undefined : known.join('/')
}

/** The number of tries before this one, of a variable that counts from 1. */
export function countRetries(...attempts: (string | undefined)[]): number | undefined {
  const numbers = attempts.filter((text) => text !== undefined && /^[1-9]\d{0,5}$/.test(text)).map(Number)
  return numbers.length === 0 ? undefined : numbers.reduce((sum, number) => sum + number - 1, 0)
}

/** Ids in braces, and in any case. */
export function normalizeUuid(uuid: string | undefined): string | undefined {
  return uuid?.replace(/^\{|\}$/g, '').toLowerCase()
}

/** Paths, and what differs between two commands of one job or is no part of its definition. */
const UNSTABLE =
  /(?:PATH|HOME|DIR|PWD|TMP|TEMP|ROOT|_FILE)$|^(?:_|SHLVL|TERM|LANG|LC_.*|LINES|COLUMNS|HOSTNAME|SHIPLOCK_.*|NPM_.*|NODE_OPTIONS)$/i
const SECRET = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|COOKIE|(?:^|_)(?:PASS|PSW|KEY|AUTH)(?:_|$)/i
const IDENTIFYING = ['JOB_NAME', 'BUILD_NUMBER', 'STAGE_NAME', 'NODE_NAME', 'EXECUTOR_NUMBER', 'WORKSPACE']

/**
 * Jenkins has no id of a stage or of a cell of a matrix: a hash of what tells two of them apart, the
 * values of axes among it. Every command of a stage has the same, and so has `retry { }`.
 */
export function hashEnvironment(env: NodeJS.ProcessEnv): string {
  const names = Object.keys(env).filter(
    (name) => !UNSTABLE.test(name) && !SECRET.test(name) && !/^(?:\/|[A-Za-z]:\\)/.test(env[name] ?? ''),
  )
  const values = [...new Set([...IDENTIFYING, ...names])].sort().map((name) => [name, env[name] ?? null])
  return shortHash(JSON.stringify(values), 32)
}

export function shortHash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}

/** A text of at most so many characters. A hash keeps long ones different. */
export function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 13)}-${shortHash(text, 12)}`
}
