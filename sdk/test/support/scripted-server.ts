import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request as it arrived, with its headers as they were spelled. */
export type Received = { method: string; path: string; headers: Record<string, string>; body: string }

/** Answers a request. One that reads the body itself is recorded with an empty body. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>

export type ScriptedServer = AsyncDisposable & { url: string; received: Received[] }

/** A server whose n-th answer is the n-th step. The last step answers all further requests. */
export async function startScriptedServer(...steps: Step[]): Promise<ScriptedServer> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const step = steps[Math.min(received.length, steps.length - 1)] as Step
    const { method = '', url: path = '', rawHeaders } = request
    const headers: Record<string, string> = {}
    for (let i = 0; i < rawHeaders.length; i += 2) headers[rawHeaders[i] as string] = rawHeaders[i + 1] as string
    const entry = { method, path, headers, body: '' }
    received.push(entry)
    try {
      if (!early.has(step)) entry.body = await text(request)
      await step(response, request)
    } catch (error) {
      // A client that gives up closes the connection.
      if (!request.destroyed) throw error
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, received, [Symbol.asyncDispose]: close }
}

const early = new WeakSet<Step>()

/** A step that runs before the body of the request has been read. */
export function beforeBody(step: Step): Step {
  early.add(step)
  return step
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function apiError(status: number, code: string, headers: Record<string, string> = {}): Step {
  return json(status, { error: { code, message: `The error ${code}.`, details: { reason: 'TEST' } } }, headers)
}

/** Closes the connection without an answer. */
export const hangUp: Step = (response) => void response.destroy()

/** Never answers. */
export const silence: Step = () => {}
