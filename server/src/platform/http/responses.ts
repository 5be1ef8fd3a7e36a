import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { lazy } from '../lazy.ts'

/**
 * Sends JSON text unchanged. Most rows leave PostgreSQL as JSON and are never parsed in this
 * process.
 */
export function sendJson(reply: FastifyReply, text: string | Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text)
}

/** Sends JSON text as `{ data: <object> }`. */
export function sendData(reply: FastifyReply, json: string): FastifyReply {
  return sendJson(reply, `{"data":${json}}`)
}

type Serializers = ReturnType<ReturnType<typeof SerializerSelector>>
type Serializer = ReturnType<Serializers>
type Route = Parameters<Serializers>[0]
type Options = Parameters<ReturnType<typeof SerializerSelector>>[1]
type Schemas = Record<string, unknown>

/**
 * Compiles Fastify's serializers of responses. Fastify's own factory compiles all of them at every
 * start, and gives all shared schemas to each, which checks them again. Here a response is compiled
 * when it is first sent and gets the shared schemas that it refers to, and equal schemas have one
 * serializer.
 */
export function createSerializers(shared: unknown, options: Options): Serializers {
  const compiled = new Map<string, Serializer>()
  return (route) => {
    const serializer = lazy(() => getSerializer(route))
    return (value) => serializer()(value)
  }

  function getSerializer(route: Route): Serializer {
    const text = JSON.stringify(route.schema)
    const known = compiled.get(text)
    if (known !== undefined) return known
    const serializer = SerializerSelector()(namedBy(text, shared as Schemas), options)(route)
    compiled.set(text, serializer)
    return serializer
  }
}

/** The shared schemas that a schema refers to, and those that these refer to. */
function namedBy(text: string, shared: Schemas): Schemas {
  const named: Schemas = {}
  const waiting = [text]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [, id = ''] of next.matchAll(/"\$ref":"([^"#]+)/g)) {
      if (Object.hasOwn(named, id) || !Object.hasOwn(shared, id)) continue
      named[id] = shared[id]
      waiting.push(JSON.stringify(shared[id]))
    }
  }
  return named
}

/**
 * What browsers may do with a response. Routes that send pages or files replace the policy. Nothing
 * may be framed, and no script of another site can load a response.
 */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
/** A year. Subdomains are the operator's decision. */
const ONLY_TLS = { 'strict-transport-security': 'max-age=31536000' }

/** The headers of every response, errors included. */
export type SecurityHeaders = Readonly<Record<string, string>>

/** `overTls`: clients reach the server at an https address, so browsers must not use http again. */
export function getSecurityHeaders(overTls: boolean): SecurityHeaders {
  return overTls ? { ...HEADERS, ...ONLY_TLS } : HEADERS
}

/** Register it before every hook that can refuse a request. */
export function registerSecurityHeaders(app: FastifyInstance, headers: SecurityHeaders): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
