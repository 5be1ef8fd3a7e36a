import http, { type ClientRequest, type RequestOptions } from 'node:http'
import https from 'node:https'
import { type SecureContext, TLSSocket } from 'node:tls'
import { HttpProxyAgent } from 'http-proxy-agent'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { readAuthorities } from './certificates.ts'
import { ConnectionError } from './connection-error.ts'
import { findProxy, formatProxy, type ProxyServer } from './proxies.ts'

/** What became of a connection so far. */
type Facts = { proxy: ProxyServer | null; isThrough: boolean; issuer: string | null }

const factsOf = new WeakMap<ClientRequest, Facts>()

/**
 * Opens a request as `http.request` does, through the proxy and with the certificates that the
 * environment names. Its errors are for `explainFailure`. Throws `ConnectionError`.
 */
export function openRequest(address: string | URL, options: RequestOptions, env = process.env): ClientRequest {
  const url = new URL(address)
  const proxy = findProxy(url, env)
  const authorities = readAuthorities(env)
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    ...options,
    ...(authorities && { secureContext: authorities }),
    ...(proxy && { agent: makeAgent(url, proxy, authorities) }),
  })
  const facts: Facts = { proxy, isThrough: false, issuer: null }
  factsOf.set(request, facts)
  request.on('socket', (socket) => noteIssuer(facts, socket))
  if (proxy !== null) watchProxy(request, proxy, url)
  return request
}

/** The proxy tunnels https and forwards http. A connection serves one request. */
function makeAgent({ protocol }: URL, { url }: ProxyServer, authorities: SecureContext | null) {
  const options = authorities === null ? {} : { secureContext: authorities }
  return protocol === 'https:' ? new HttpsProxyAgent(url, options) : new HttpProxyAgent(url, options)
}

/** Otherwise, the refusal of a proxy would be read as the answer of the server. */
function watchProxy(request: ClientRequest, proxy: ProxyServer, url: URL): void {
  request.on('proxyConnect', ({ statusCode }: { statusCode?: number }) => {
    if (statusCode === undefined || statusCode === 200) (factsOf.get(request) as Facts).isThrough = true
    else request.destroy(describeRefusal(proxy, url, statusCode))
  })
  request.on('response', (response) => {
    if (response.statusCode !== 407) return
    response.resume()
    request.emit('error', describeRefusal(proxy, url, 407))
  })
}

function describeRefusal(proxy: ProxyServer, { host }: URL, status: number): ConnectionError {
  const { variable } = proxy
  const name = `the proxy ${formatProxy(proxy)} of ${variable}`
  if (status !== 407) {
    const message = `${name} does not connect to ${host}: it answered ${status}; NO_PROXY lists hosts to reach without it`
    return new ConnectionError(message, { isFinal: status < 500 })
  }
  const problem = proxy.url.username ? 'does not accept its user and password' : 'asks for a user and a password'
  const message = `${name} ${problem} (407): set ${variable} to http://USER:PASSWORD@HOST:PORT`
  return new ConnectionError(message, { isFinal: true })
}

/** Node.js checks the certificate in the same event, and closes the connection if it does not trust it. */
function noteIssuer(facts: Facts, socket: unknown): void {
  if (!(socket instanceof TLSSocket) || !(socket as { secureConnecting?: boolean }).secureConnecting) return
  socket.prependOnceListener('secure', () => {
    const { issuer } = socket.getPeerCertificate()
    const names = issuer ? [issuer.CN, issuer.O].flat().filter((name) => name) : []
    facts.issuer = names.length === 0 ? null : names.join(', ')
  })
}

const UNTRUSTED = /^(?:SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY))/

/** The error of a request, as a `ConnectionError` where the proxy or the certificate is the reason. */
export function explainFailure(request: ClientRequest, error: unknown): unknown {
  const { proxy, isThrough, issuer } = factsOf.get(request) ?? { proxy: null, isThrough: false, issuer: null }
  const { code, name } = error as NodeJS.ErrnoException
  if (error instanceof ConnectionError || typeof code !== 'string' || name === 'AbortError') return error
  const asProxy = proxy !== null && !isThrough ? `the proxy ${formatProxy(proxy)} of ${proxy.variable}` : null
  if (UNTRUSTED.test(code)) {
    const whose = asProxy === null ? 'its certificate' : `the certificate of ${asProxy}`
    const by = issuer === null ? '' : `, issued by "${issuer}",`
    const way = asProxy === null && proxy !== null ? ` through the proxy ${formatProxy(proxy)}` : ''
    const message = `${whose}${by} is not trusted${way} (${code}); if it is of your own authority, name its file in NODE_EXTRA_CA_CERTS or SHIPLOCK_CA_FILE`
    return new ConnectionError(message, { isFinal: true, cause: error })
  }
  if (asProxy === null) return error
  const message = `${asProxy} cannot be reached: ${code}; NO_PROXY lists hosts to reach without it`
  return new ConnectionError(message, { isFinal: false, cause: error })
}
