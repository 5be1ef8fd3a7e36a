import { BlockList, isIP } from 'node:net'
import { ConnectionError } from './connection-error.ts'

/** A proxy, and the variable of the environment that names it. */
export type ProxyServer = { url: URL; variable: string }

/**
 * The proxy for an address: `HTTPS_PROXY` for https and `HTTP_PROXY` for http, in lower case first,
 * unless `NO_PROXY` has the address. Null for none. Throws `ConnectionError` if it cannot be used.
 */
export function findProxy(address: URL, env: NodeJS.ProcessEnv): ProxyServer | null {
  const name = address.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const variable = [name.toLowerCase(), name].find((each) => env[each]?.trim())
  if (variable === undefined) return null
  if (isExcluded(address, env.no_proxy?.trim() || env.NO_PROXY?.trim() || '')) return null
  return { url: parseProxy(env[variable]?.trim() ?? '', variable), variable }
}

/** The address of a proxy for people: without its user and password. */
export function formatProxy({ url }: ProxyServer): string {
  return `${url.protocol}//${url.host}`
}

/** An address without a scheme is one of http. */
function parseProxy(text: string, variable: string): URL {
  // A percent sign of a password that begins no escape stands for itself.
  const address = (text.includes('://') ? text : `http://${text}`).replace(/%(?![0-9a-f]{2})/gi, '%25')
  const url = URL.canParse(address) ? new URL(address) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return url
  const reason = url?.protocol.startsWith('socks') ? 'SOCKS proxies are not supported' : 'it names no proxy'
  throw new ConnectionError(`${reason}: ${variable} must have the form http://HOST:PORT or https://HOST:PORT`, {
    isFinal: true,
  })
}

/**
 * `NO_PROXY` lists, with commas or spaces between them: names, which stand for themselves and for all
 * names below them (`.example.com` and `*.example.com` are the same), IP addresses, networks in CIDR
 * notation, each of the names and addresses with a port or without; and `*` for everything.
 */
function isExcluded(address: URL, list: string): boolean {
  const host = address.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const port = address.port || (address.protocol === 'https:' ? '443' : '80')
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry === '*' || (entry !== '' && fitsEntry(entry, host, port)))
}

function fitsEntry(entry: string, host: string, port: string): boolean {
  const [, bare = entry, entryPort] = isIP(entry) === 6 ? [] : (/^(.+?)(?::(\d+))?$/.exec(entry) ?? [])
  if (entryPort !== undefined && entryPort !== port) return false
  const name = bare.replace(/^\[|\]$/g, '')
  const [ip = '', bits] = name.split('/')
  if (isIP(ip) !== 0) return isIP(host) !== 0 && isInNetwork(host, ip, bits)
  const domain = name.replace(/^\*?\./, '').replace(/\.$/, '')
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`))
}

function isInNetwork(host: string, ip: string, bits: string | undefined): boolean {
  const family = isIP(ip) === 6 ? 'ipv6' : 'ipv4'
  const bitsMax = family === 'ipv6' ? 128 : 32
  const length = bits === undefined ? bitsMax : Number(bits)
  if (!/^\d{1,3}$/.test(bits ?? '0') || length > bitsMax) return false
  const network = new BlockList()
  network.addSubnet(ip, length, family)
  return network.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}
