import { normalizeAddress } from '../../codehosts/catalogue.ts'

const DEFAULT_PORTS: Record<string, string> = {
  'http:': '80',
  'https:': '443',
  'git+https:': '443',
  'ssh:': '22',
  'git+ssh:': '22',
  'git:': '9418',
}
const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?$/
const SEGMENT = /^(?! )[\p{L}\p{N}._~+@ -]{1,200}(?<! )$/u
/**
 * The SSH user of every code host. It is not a secret, unlike a user in an https address, which is
 * often a token.
 */
const SSH_USER = 'git'

export class RepositoryAddressError extends Error {}

/**
 * Converts a URL, an scp-style address or `host/owner/name` to `host/owner/name`: the host in lower
 * case, no scheme, no `.git`, and a port only if it is not the default port of the scheme. There is
 * one form for each repository (`normalizeAddress`). Throws `RepositoryAddressError`. Its message
 * never contains the address, which may include a password.
 */
export function normalizeRepository(address: string): string {
  const text = address.trim()
  if (/[\p{Cc}\\]/u.test(text)) throw new RepositoryAddressError('must not contain control characters or backslashes')
  const { host, path } = text.includes('://') ? fromUrl(text) : (fromScp(text) ?? fromPath(text))
  const lower = host.toLowerCase()
  if (!HOST.test(lower)) throw new RepositoryAddressError('must start with a host name')
  return normalizeAddress([lower, ...normalizePath(path)].join('/'))
}

type Parts = { host: string; path: string }

function fromUrl(text: string): Parts {
  if (!URL.canParse(text)) throw new RepositoryAddressError('is not a valid address')
  const url = new URL(text)
  const defaultPort = DEFAULT_PORTS[url.protocol]
  if (defaultPort === undefined) throw new RepositoryAddressError('must be an http, https, ssh or git address')
  const overSsh = url.protocol.endsWith('ssh:')
  if (url.password || (url.username && !(overSsh && url.username === SSH_USER))) {
    throw new RepositoryAddressError('must not contain a user or password')
  }
  if (url.search || url.hash) throw new RepositoryAddressError('must not contain a query or fragment')
  const port = url.port && url.port !== defaultPort ? `:${url.port}` : ''
  return { host: url.hostname + port, path: decode(url.pathname) }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new RepositoryAddressError('contains invalid percent-encoding')
  }
}

/**
 * Reads `[user@]host:owner/name`. Returns null for other forms. Digits after the colon are a port,
 * not an owner.
 */
function fromScp(text: string): Parts | null {
  const colon = text.indexOf(':')
  const slash = text.indexOf('/')
  if (colon < 0 || (slash >= 0 && slash < colon)) return null
  const authority = text.slice(0, colon)
  const at = authority.lastIndexOf('@')
  const path = text.slice(colon + 1)
  if (path.includes('@') && path.indexOf('@') < (path.indexOf('/') + 1 || path.length)) {
    throw new RepositoryAddressError('must not contain a user or password')
  }
  if (at < 0 && /^\d{1,5}\//.test(path)) return null
  return { host: authority.slice(at + 1), path }
}

function fromPath(text: string): Parts {
  const slash = text.indexOf('/')
  if (slash < 0) throw new RepositoryAddressError('must have the form host/owner/name')
  const host = text.slice(0, slash)
  if (host.includes('@')) throw new RepositoryAddressError('must not contain a user or password')
  return { host, path: text.slice(slash + 1) }
}

function normalizePath(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '')
  const last = segments.pop()?.replace(/(?:\.git)+$/i, '')
  if (last) segments.push(last)
  if (segments.length < 2) throw new RepositoryAddressError('must have the form host/owner/name')
  if (segments.every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')) return segments
  throw new RepositoryAddressError('contains characters that are not allowed in a repository name')
}

/**
 * The CI server or organization that a sender names, as host and path: the host in lower case,
 * without the default port, a trailing slash, and the braces of a UUID (ci-evidence §8.1). Null if
 * it names none.
 */
export function normalizeInstance(given: string | undefined): string | null {
  if (given === undefined) return null
  const [host = '', ...path] = given
    .replace(/^\{(.*)\}$/, '$1')
    .replace(/\/$/, '')
    .split('/')
  return [host.toLowerCase().replace(/:(?:80|443)$/, ''), ...path].join('/')
}
