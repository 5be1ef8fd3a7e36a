import { type IncomingMessage, type Server, ServerResponse } from 'node:http'

/** How much of a body is read and discarded after its request was answered. */
const DISCARD_BYTES_MAX = 64 * 2 ** 20
const DISCARD_MS_MAX = 30_000
const DISCARD_IDLE_MS_MAX = 5_000

const REQUEST_TIMEOUT = 408

/**
 * A response that also reaches clients that send the whole body before they read. Closing a
 * connection with unread bytes resets it, and the client then loses the response. So when a
 * request is answered before its body was read, the rest of the body is discarded first, up to
 * the bounds above. The connection is then closed.
 */
export class ServerResponseAfterBody extends ServerResponse<IncomingMessage> {
  // biome-ignore lint/suspicious/noExplicitAny: the overloads of Node's own method
  override writeHead(...head: any[]): this {
    const { server } = this.req.socket as { server?: Server }
    if (!server?.listening || hasUnreadBody(this.req)) this.shouldKeepAlive = false
    return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>))
  }

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of Node's own method
  override end(...rest: any[]): this {
    const isSlow = this.statusCode === REQUEST_TIMEOUT
    if (isSlow || this.shouldKeepAlive || !hasUnreadBody(this.req)) return super.end(...rest)
    if (typeof rest[0] === 'string' || rest[0] instanceof Uint8Array) this.write(rest[0], rest[1])
    else this.flushHeaders()
    discardBody(this.req, () => super.end())
    return this
  }
}

/** Whether bytes of the body are still to come. A request without a body has none. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed) return false
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  return coding !== undefined || (length !== undefined && length !== '0')
}

/** Calls back once: at the end of the body, at a bound, or when the client has gone. */
function discardBody(request: IncomingMessage, done: () => void): void {
  let bytesLeft = DISCARD_BYTES_MAX
  const stop = () => {
    clearTimeout(total)
    clearTimeout(idle)
    request.off('data', count)
    for (const event of ['end', 'error', 'close']) request.off(event, stop)
    done()
  }
  const total = setTimeout(stop, DISCARD_MS_MAX)
  const idle = setTimeout(stop, DISCARD_IDLE_MS_MAX)
  const count = (chunk: Uint8Array) => {
    idle.refresh()
    bytesLeft -= chunk.byteLength
    if (bytesLeft < 0) stop()
  }
  for (const event of ['end', 'error', 'close']) request.once(event, stop)
  request.on('data', count).resume()
}
