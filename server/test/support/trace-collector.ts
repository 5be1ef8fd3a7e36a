import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } }

export type CollectedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: Attribute[]
  status: { code: number; message?: string }
}

/** An OTLP/HTTP collector on loopback that keeps what it gets. */
export type TraceCollector = AsyncDisposable & {
  url: string
  /** Everything that was received. */
  text(): string
  spans(): CollectedSpan[]
}

/** `answer` stands for a collector that fails or never answers. */
export async function startTraceCollector(
  answer = (response: ServerResponse) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
): Promise<TraceCollector> {
  const bodies: string[] = []
  const server = createServer(async (request: IncomingMessage, response) => {
    bodies.push(await text(request))
    answer(response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: () => bodies.join('\n'),
    spans: () => bodies.flatMap(spansOf),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Payload = { resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[] }

function spansOf(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Payload
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

export function attributesOf({ attributes }: CollectedSpan): Record<string, string | number | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
}
