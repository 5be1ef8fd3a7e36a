import type { FastifyInstance } from 'fastify'

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
