import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type pg from 'pg'
import { findPassword, readSocketUrl } from './database-url.ts'

/** How to reach a PostgreSQL: a URL, or the parts of one with a socket's directory as the host. */
export type Address = string | { host: string; port: number; database: string; user: string; password?: string }

/** Where the server is, and how to log in. Made for each connection. */
export type Target = {
  config: pg.ClientConfig & { host: string; port: number }
  /** Settings of the session. */
  parameters: Record<string, string>
  /** Whether the server may refuse TLS. */
  isTlsOptional: boolean
  /** Whether the connection does not keep the process running. */
  isBackground?: boolean
}

type TargetOptions = {
  parameters: Record<string, string>
  connectMs: number
  /** Makes the sockets, which are not connected yet. */
  openSocket?: () => Socket
}

const DEFAULT_PORT = 5432
const KEEP_ALIVE_MS = 60_000
/** Parameters of an address that are no settings of a session. */
const OF_CLIENT = ['sslmode', 'ssl', 'sslnegotiation', 'connect_timeout', 'target_session_attrs', 'passfile']

export function toTarget(address: Address, { parameters, connectMs, openSocket }: TargetOptions): Target {
  const { place, query } =
    typeof address === 'string' ? readAddress(address) : { place: address, query: new URLSearchParams() }
  const tls = query.get('sslmode') ?? query.get('ssl') ?? undefined
  const passfile = query.get('passfile')
  const ofSession = [...query].filter(([name]) => !OF_CLIENT.includes(name))
  return {
    config: {
      ...(passfile !== null && { password: () => readPassword(passfile, place) }),
      ...place,
      ssl: readTls(tls),
      ...(query.get('sslnegotiation') === 'direct' && { sslnegotiation: 'direct' as const }),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      ...(openSocket && { stream: openSocket }),
    },
    parameters: { ...parameters, ...Object.fromEntries(ofSession) },
    isTlsOptional: tls === 'prefer',
  }
}

function readAddress(address: string) {
  const socket = readSocketUrl(address)
  if (socket !== null) return { place: { port: DEFAULT_PORT, ...socket.endpoint }, query: socket.parameters }
  const { hostname, port, pathname, username, password, searchParams } = new URL(address)
  const parts = {
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  }
  const host = hostname.replace(/^\[|\]$/g, '') || 'localhost'
  const present = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== ''))
  return { place: { host, port: Number(port) || DEFAULT_PORT, ...present }, query: searchParams }
}

type Place = { host: string; port: number; database?: string; user?: string }

/** Reads the file for each connection, because the password may change. */
async function readPassword(passfile: string, { host, port, database = '', user = '' }: Place): Promise<string> {
  const password = findPassword(await readFile(passfile, 'utf8'), { host, port, database, user })
  if (password === null) throw new Error(`${passfile} has no password for ${user}`)
  return password
}

/** Undefined is decided by the environment, as `PGSSLMODE`. */
function readTls(mode: string | undefined): pg.ClientConfig['ssl'] {
  if (mode === undefined) return undefined
  if (mode === 'disable' || mode === 'false') return false
  return ['allow', 'prefer', 'require'].includes(mode) ? { rejectUnauthorized: false } : true
}
