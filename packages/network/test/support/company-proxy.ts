import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The authority of the company, by which the proxy signs for every name. */
export const AUTHORITY = new URL('../fixtures/inspection-ca.pem', import.meta.url).pathname

const [key, cert] = ['inspected-key', 'inspected-cert'].map((name) =>
  readFileSync(new URL(`../fixtures/${name}.pem`, import.meta.url)),
)

export type CompanyProxy = {
  /** With the user and password, if it asks for them. */
  url: string
  /** What it was asked for: `CONNECT name:port`, or `GET http://name/path`. */
  asked: string[]
  close(): void
}

/**
 * The proxy of a company, which reads what is encrypted: it answers for every name with a certificate
 * of its own, and forwards the requests to `target`, whatever name they are for.
 */
export async function startCompanyProxy(target: string, login: string | null = null): Promise<CompanyProxy> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const isLetIn = ({ headers }: IncomingMessage) =>
    login === null || headers['proxy-authorization'] === `Basic ${Buffer.from(login).toString('base64')}`
  const inside = http.createServer((request, response) => forward(target, request, response))
  const proxy = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (isLetIn(request)) forward(target, request, response)
    else response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('<html>')
  })
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    if (!isLetIn(request)) return socket.end('HTTP/1.1 407 Authentication required\r\ncontent-length: 0\r\n\r\n')
    if (request.url?.startsWith('forbidden.')) return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    const opened = new TLSSocket(socket as Socket, { isServer: true, key, cert })
    opened.on('error', () => {})
    inside.emit('connection', opened)
  })
  proxy.on('connection', (socket) => sockets.add(socket))
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo
  const close = () => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  }
  return { url: `http://${login === null ? '' : `${login}@`}127.0.0.1:${port}`, asked, close }
}

function forward(target: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://any.example')
  const { method = 'GET', headers } = request
  const sent = http.request(new URL(pathname + search, target), { method, headers })
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  sent.on('error', () => response.writeHead(502).end())
  request.pipe(sent)
}
