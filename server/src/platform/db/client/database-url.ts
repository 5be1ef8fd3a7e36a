/** A connection through a Unix socket. Absent parts keep their defaults. */
type SocketEndpoint = {
  /** The socket's directory. */
  host: string
  port?: number
  database?: string
  user?: string
  password?: string
}

const FORM = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/

/**
 * Reads the two forms of an address that no URL has: a socket's directory percent-encoded
 * as the host, or given as `?host=`, as psql accepts them (PostgreSQL manual, 34.1.1.2). Returns
 * null for every other address. `parameters` are the remaining ones, such as `application_name`.
 */
export function readSocketUrl(url: string): { endpoint: SocketEndpoint; parameters: URLSearchParams } | null {
  const [, login = '', location = '', database = '', query = ''] = FORM.exec(url) ?? []
  const parameters = parseParameters(query)
  const take = (name: string, encoded = ''): string => {
    const given = parameters.get(name)
    parameters.delete(name)
    return given ?? decodeURIComponent(encoded)
  }
  const [user, ...password] = login.split(':')
  const [host, port] = location.split(':')
  const endpoint = { host: take('host', host), database: decodeURIComponent(database), user: take('user', user) }
  if (!endpoint.host.startsWith('/')) return null
  const rest = { password: take('password', password.join(':')), port: Number(take('port', port)) }
  const named = Object.entries({ ...endpoint, ...rest }).filter(([, part]) => part !== '' && part !== 0)
  return { endpoint: Object.fromEntries(named) as SocketEndpoint, parameters }
}

type Login = { host: string; port: number; database: string; user: string }

const FIELD_OF_FILE = /(?:^|:)((?:\\.|[^:\\])*)/g

/**
 * Finds the password for a login in the text of a password file, whose lines are
 * `host:port:database:user:password` (PostgreSQL manual, 34.16). Null if no line is for it.
 */
export function findPassword(file: string, { host, port, database, user }: Login): string | null {
  const login = [host, String(port), database, user]
  for (const line of file.split('\n')) {
    const fields = [...line.matchAll(FIELD_OF_FILE)].map(([, field = '']) => field)
    const isFor = login.every((part, at) => fields[at] === '*' || unescapeField(fields[at]) === part)
    const password = unescapeField(fields[login.length])
    if (!line.startsWith('#') && isFor && password) return password
  }
  return null
}

function unescapeField(field: string | undefined): string | undefined {
  return field?.replace(/\\(.)/g, '$1')
}

/** One server of an address with several. */
export type DatabaseHost = {
  /** Without the brackets of an IPv6 address. */
  host: string
  port: number
  /** The address of the database on this server, for clients that know one server only. */
  url: string
}

const HOST = /^(\[[^\]]+\]|[^:]*)(?::(\d+))?$/
const DEFAULT_PORT = 5432

/**
 * Reads an address of which one server at a time can be written to: several hosts, or
 * `target_session_attrs` (PostgreSQL manual, 34.1.1.3). Returns null for every other address.
 */
export function readHosts(url: string): DatabaseHost[] | null {
  const [, login, location = '', database = '', query = ''] = FORM.exec(url) ?? []
  const parameters = parseParameters(query)
  const wanted = parameters.get('target_session_attrs') ?? 'any'
  parameters.delete('target_session_attrs')
  const names = location.split(',')
  if (names.length === 1 && (wanted === 'any' || readSocketUrl(url) !== null)) return null
  return names.map((name) => {
    const [, host = '', port = DEFAULT_PORT] = HOST.exec(name) ?? []
    const ofHost = `postgres://${login === undefined ? '' : `${login}@`}${host || 'localhost'}:${port}/${database}`
    const url = parameters.size > 0 ? `${ofHost}?${parameters}` : ofHost
    return { host: decodeURIComponent(host.replace(/^\[|\]$/g, '')) || 'localhost', port: Number(port), url }
  })
}

/** In these addresses, unlike in forms, a plus sign is no space. */
function parseParameters(query: string): URLSearchParams {
  return new URLSearchParams(query.replaceAll('+', '%2B'))
}

const SECRET_PARAMETERS = ['password', 'sslpassword', 'passfile']

/** A database's address that is safe to show: everything that psql needs except the password. */
export function removePassword(url: string): string {
  if (!URL.canParse(url)) return removePasswordOfHosts(url)
  const parsed = new URL(url)
  parsed.password = ''
  for (const name of SECRET_PARAMETERS) parsed.searchParams.delete(name)
  return parsed.href
}

/**
 * libpq accepts several hosts, or none, after `user:password@`. The URL standard accepts neither.
 */
function removePasswordOfHosts(url: string): string {
  const [main = '', query = ''] = url.split('?', 2)
  const start = main.indexOf('://') + '://'.length
  const at = main.lastIndexOf('@')
  const [user = ''] = main.slice(start, at).split(':', 1)
  const shown = at < 0 ? main : main.slice(0, start) + user + main.slice(at)
  const parameters = parseParameters(query)
  for (const name of SECRET_PARAMETERS) parameters.delete(name)
  return parameters.size > 0 ? `${shown}?${parameters}` : shown
}
