import { hash } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { createRandomBase62, hasChecksum, withChecksum } from '../../platform/crypto/token.ts'
import { isLoopback } from '../../platform/loopback.ts'

/** A session ends when it was not used for this long (console.md §1). */
export const SESSION_IDLE_MS_MAX = 12 * HOUR_MS
export const SESSION_MS_MAX = 7 * DAY_MS
/** How recent a sign-in must be for dangerous actions. */
export const FRESH_MS_MAX = 15 * MINUTE_MS

export type SessionTimes = { created_at: Date; last_used_at: Date; signed_in_at: Date }

/** Whether a session that was not ended can still be used. */
export function isLive({ created_at, last_used_at }: SessionTimes, now: Date): boolean {
  const age = now.getTime() - created_at.getTime()
  const idle = now.getTime() - last_used_at.getTime()
  return age < SESSION_MS_MAX && idle < SESSION_IDLE_MS_MAX
}

export function isFresh({ signed_in_at }: Pick<SessionTimes, 'signed_in_at'>, now: Date): boolean {
  return now.getTime() - signed_in_at.getTime() < FRESH_MS_MAX
}

const PREFIX = 'shl_session_'
const SECRET_CHARS = 40

export function createSessionToken(): string {
  return withChecksum(PREFIX + createRandomBase62(SECRET_CHARS))
}

export function isSessionToken(text: string): boolean {
  return text.startsWith(PREFIX) && text.length === PREFIX.length + SECRET_CHARS + 6 && hasChecksum(text)
}

/** The hash that is stored. */
export function hashSessionToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** The cookie of a session: `__Host-shiplock`, or `shiplock` on loopback over plain http. */
export type SessionCookie = { name: string; secure: boolean }

/**
 * Over plain http, browsers drop cookies with `Secure` and the prefix `__Host-`. Only loopback
 * therefore gets a cookie without them: elsewhere the session could be read on its way. The base
 * URL decides, not the request, which a proxy may have rewritten.
 */
export function defineSessionCookie(baseUrl: string): SessionCookie {
  const { protocol, hostname } = new URL(baseUrl)
  const secure = protocol !== 'http:' || !isLoopback(hostname)
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

/** A browser in which nobody has signed in for this long is not known any more. */
export const BROWSER_MS_MAX = 90 * DAY_MS

const BROWSER_TOKEN = /^[A-Za-z0-9]{40}$/

/** The token by which a browser is known after a sign-in; a new one, if it has none. */
export function readBrowserToken({ headers }: FastifyRequest, cookie: SessionCookie): string {
  const token = parseCookie(headers.cookie ?? '')[toBrowserCookie(cookie).name] ?? ''
  return BROWSER_TOKEN.test(token) ? token : createRandomBase62(SECRET_CHARS)
}

/** The cookie of the browser stays when the session ends. */
export function writeSignInCookies(
  reply: FastifyReply,
  cookie: SessionCookie,
  { session, browser }: { session: string; browser: string },
): void {
  writeSessionCookie(reply, cookie, session)
  reply.header('set-cookie', toHeader(toBrowserCookie(cookie), browser, BROWSER_MS_MAX / 1000))
}

function toBrowserCookie({ name, secure }: SessionCookie): SessionCookie {
  return { name: `${name}-browser`, secure }
}

function toHeader({ name, secure }: SessionCookie, value: string, maxAge: number): string {
  return stringifySetCookie({ name, value, maxAge, path: '/', httpOnly: true, sameSite: 'lax', secure })
}
