import { promises as dns, type LookupAddress } from 'node:dns'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { readAuthorities } from '@shiplock/network/certificates'
import { networkFetch } from '@shiplock/network/network-fetch'
import { explainFailure, openRequest } from '@shiplock/network/open-request'
import { findProxy } from '@shiplock/network/proxies'
import type { Log } from '../log.ts'
import { listAddresses } from './list-addresses.ts'
import { findSpecialNetwork, Networks } from './networks.ts'

/** All that people see of a failure. More would show what there is inside our network. */
export const CANNOT_BE_READ = 'cannot be read; private addresses need SHIPLOCK_ALLOWED_NETWORKS'

/** An address outside cannot be read. The log has the reason. */
export class OutsideError extends Error {
  constructor() {
    super(CANNOT_BE_READ)
  }
}

/** All addresses of a name. Throws if there are none. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>

type Options = {
  /** The networks that tenants may name beside the public ones. */
  allowedNetworks: readonly string[]
  /** Its addresses are ours. */
  baseUrl: string
  /** The networks that are stored as allowed for an origin. */
  listStoredNetworks(origin: string): Promise<string[]>
  log: Log
  /** For tests. */
  resolve?: Resolve | undefined
}

type Limits = {
  timeoutMs: number
  bytesMax: number
  /** An address of the settings: it may be anywhere, and http is for this machine. */
  isOperators?: boolean
}

/**
 * Sends requests to addresses that tenants choose. A name is looked up once, and the
 * connection goes to what was found, which must be public or in an allowed network. http is sent
 * into allowed networks only. Redirects are not followed.
 */
export class GuardedFetch {
  readonly #options: Options
  /** For names that tenants choose. */
  readonly #resolve: Resolve
  /** For names that operators choose: it takes one of the few threads of the process. */
  readonly #lookup: Resolve
  readonly #allowed: Networks
  #reached: { addresses: LookupAddress[]; at: number } | null = null

  constructor(options: Options) {
    this.#options = options
    this.#resolve = options.resolve ?? listAddresses
    this.#lookup = options.resolve ?? ((hostname) => dns.lookup(hostname, { all: true }))
    this.#allowed = new Networks(options.allowedNetworks)
  }

  /** The whole response. Throws `OutsideError`. */
  async fetch(address: string, init: RequestInit, { timeoutMs, bytesMax, isOperators }: Limits): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      const url = new URL(address)
      const addresses = await this.#lookUp(url, signal, isOperators ? this.#lookup : this.#resolve)
      const isPermitted = isOperators ? isSafe(url, addresses) : await this.#isPermitted(url, addresses)
      if (!isPermitted) throw new Error('The address is neither public nor allowed.')
      return await send(new Request(url, init), { addresses, signal, bytesMax })
    } catch (error) {
      this.#options.log.warn({ host: URL.parse(address)?.host, err: error }, 'Could not read an address outside')
      throw new OutsideError()
    }
  }

  /** Whether an address is in the allowed networks, with all that its name stands for. */
  async isInside(address: string): Promise<boolean> {
    const url = new URL(address)
    const addresses = await this.#findAddresses(url)
    if (addresses === null) return false
    return isIn(this.#allowed, addresses) || isIn(await this.#withStored(url), addresses)
  }

  /**
   * The networks that have to be allowed for an address; none if it can be read as it is. Null if
   * its name is unknown, or our own addresses are.
   */
  async listMissingNetworks(address: string): Promise<string[] | null> {
    const addresses = await this.#findAddresses(new URL(address))
    if (addresses === null) return null
    const own = await this.#findOwn()
    if (own === null) return null
    const missing = addresses
      .filter((found) => !this.#allowed.has(found.address))
      .flatMap((found) => getNetwork(found.address, own) ?? [])
    return [...new Set(missing)]
  }

  async #findAddresses(url: URL): Promise<LookupAddress[] | null> {
    return this.#lookUp(url, AbortSignal.timeout(LOOKUP_MS_MAX), this.#resolve).catch(() => null)
  }

  async #lookUp({ hostname }: URL, signal: AbortSignal, resolve: Resolve): Promise<LookupAddress[]> {
    const host = hostname.replace(/^\[|\]$/g, '')
    const family = isIP(host)
    if (family !== 0) return [{ address: host, family }]
    const found = await Promise.race([resolve(host), rejectOn(signal)])
    if (found.length === 0) throw new Error('The name has no address.')
    return found
  }

  async #isPermitted(url: URL, addresses: readonly LookupAddress[]): Promise<boolean> {
    const own = await this.#findOwn()
    const isPublic = (ip: string) => url.protocol === 'https:' && own !== null && getNetwork(ip, own) === null
    const fit = (networks: Networks) => addresses.every(({ address }) => networks.has(address) || isPublic(address))
    return fit(this.#allowed) || fit(await this.#withStored(url))
  }

  async #withStored({ origin }: URL): Promise<Networks> {
    return new Networks([...this.#options.allowedNetworks, ...(await this.#options.listStoredNetworks(origin))])
  }

  /** The addresses of this machine, and those by which clients reach us; null if unknown. */
  async #findOwn(): Promise<Networks | null> {
    const reached = await this.#findReached()
    if (reached === null) return null
    const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    return new Networks([...interfaces, ...reached].map(({ address }) => address.split('%')[0] ?? address))
  }

  /** Looked up once a minute. What was found last counts while the lookup fails. */
  async #findReached(): Promise<LookupAddress[] | null> {
    const known = this.#reached
    if (known !== null && performance.now() - known.at < REACHED_MS_MAX) return known.addresses
    const looked = this.#lookUp(new URL(this.#options.baseUrl), AbortSignal.timeout(LOOKUP_MS_MAX), this.#lookup)
    const addresses = await looked.catch((error: NodeJS.ErrnoException) => {
      // A name that does not exist here stands for nothing that we could reach by accident.
      if (error.code === 'ENOTFOUND') return known?.addresses ?? []
      this.#options.log.warn({ err: error }, 'The name of SHIPLOCK_BASE_URL could not be looked up')
      return known?.addresses ?? null
    })
    if (addresses !== null) this.#reached = { addresses, at: performance.now() }
    return addresses
  }
}

const LOOKUP_MS_MAX = 5000
const REACHED_MS_MAX = 60_000

/** The network for which an address is refused; null for a public one that is not ours. */
function getNetwork(address: string, own: Networks): string | null {
  return findSpecialNetwork(address) ?? (own.has(address) ? address : null)
}

const LOOPBACK = new Networks(['127.0.0.0/8', '::1'])

function isSafe({ protocol }: URL, addresses: readonly LookupAddress[]): boolean {
  return protocol === 'https:' || isIn(LOOPBACK, addresses)
}

function isIn(networks: Networks, addresses: readonly LookupAddress[]): boolean {
  return addresses.every(({ address }) => networks.has(address))
}

async function rejectOn(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

type Sending = { addresses: LookupAddress[]; signal: AbortSignal; bytesMax: number }

/**
 * Connects to the addresses, in whatever order answers first. A proxy of the environment looks the
 * name up itself; this machine is reached without it.
 */
async function send(request: Request, { addresses, signal, bytesMax }: Sending): Promise<Response> {
  const [url, body] = [new URL(request.url), Buffer.from(await request.arrayBuffer())]
  const { Agent } = url.protocol === 'https:' ? https : http
  const options: http.RequestOptions = {
    method: request.method,
    headers: { 'user-agent': 'Shiplock', 'accept-encoding': 'identity', ...Object.fromEntries(request.headers) },
    // A connection of its own: one that is kept may lead to an address that was never looked at.
    agent: new Agent(),
    lookup: (_hostname, { all }, callback) => {
      const [first] = addresses
      if (all) callback(null, addresses)
      else callback(null, first?.address ?? '', first?.family)
    },
    signal,
  }
  const sent = openRequest(url, options, isIn(LOOPBACK, addresses) ? { ...process.env, no_proxy: '*' } : process.env)
  // Failures are those of the response; after it, or after the time limit, nobody else listens.
  sent.on('error', () => {})
  sent.end(body)
  const [response] = (await once(sent, 'response').catch((error) => {
    throw explainFailure(sent, error)
  })) as [IncomingMessage]
  return readResponse(response, bytesMax)
}

/** Leaving the loop early closes the connection. */
async function readResponse(response: IncomingMessage, bytesMax: number): Promise<Response> {
  const { statusCode: status = 0, rawHeaders } = response
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`The response has more than ${bytesMax} bytes.`)
    chunks.push(chunk)
  }
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  return new Response([204, 205, 304].includes(status) ? null : Buffer.concat(chunks), { status, headers })
}

/**
 * The `fetch` for addresses that operators choose, such as code hosts: through the proxy and with
 * the certificates that the environment names, else that of Node.js.
 */
export async function fetchOutside(address: string, init: RequestInit & { redirect: 'manual' }): Promise<Response> {
  const isPlain = findProxy(new URL(address), process.env) === null && readAuthorities(process.env) === null
  return isPlain ? fetch(address, init) : networkFetch(address, init)
}
