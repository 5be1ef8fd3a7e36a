import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLoopback } from '../../platform/loopback.ts'
import { SESSION_MS_MAX } from './session.ts'

/** The cookie of a session: `__Host-shiplock`, or `shiplock` on loopback over plain http. */
export type SessionCookie = { name: string; secure: boolean }

/**
 * Over plain http, browsers drop cookies with `Secure` and the prefix `__Host-`. Only loopback
 * therefore gets a cookie without them: elsewhere the session could be read on its way. The base
 * URL decides, not the request, which a proxy may have rewritten.
 */
export function defineSessionCookie(baseUrl: string): SessionCookie {
  const secure = !isPlainLoopback(baseUrl)
  return { name: secure ? '__Host-shiplock' : 'shiplock', secure }
}

export function readSessionCookie(request: FastifyRequest, { name }: SessionCookie): string | null {
  return parseCookie(request.headers.cookie ?? '')[name] ?? null
}

export function writeSessionCookie(reply: FastifyReply, cookie: SessionCookie, token: string): void {
  reply.header('set-cookie', toHeader(cookie, token, SESSION_MS_MAX / 1000))
}

export function removeSessionCookie(reply: FastifyReply, cookie: SessionCookie): void {
  reply.header('set-cookie', toHeader(cookie, '', 0))
}

function toHeader({ name, secure }: SessionCookie, value: string, maxAge: number): string {
  return stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'lax', secure })
}

function isPlainLoopback(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && isLoopback(hostname)
}
