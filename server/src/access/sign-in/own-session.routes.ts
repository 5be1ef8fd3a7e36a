import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../sessions/audit-person.ts'
import { type ListedSession, listSessions } from '../sessions/session.store.ts'
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from '../sessions/session.ts'
import { defineSessionCookie, removeSessionCookie } from '../sessions/session-cookie.ts'
import { updateSessionEnd, updateSessionEnds } from '../sessions/session-end.store.ts'
import { SESSIONS_PER_USER_MAX } from '../sessions/start-session.ts'
import { OwnSession, OwnSessionPath, SessionRevoked, SessionsRevoked } from './account.schema.ts'

const tags = ['Account']

/** The sessions of the user who is signed in. */
export async function registerOwnSessionRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql, clock } = services
  const cookie = defineSessionCookie(services.config.baseUrl)

  app.get(
    '/app/api/account/sessions',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'listSessions',
        summary: 'List your sessions',
        description: 'Your sessions that have not ended, newest first, at most 100.',
        tags,
        response: { 200: Envelope(Type.Array(OwnSession), 'Your sessions.') },
      },
    },
    async ({ session }) => {
      const now = clock.now().getTime()
      const since = { createdAfter: new Date(now - SESSION_MS_MAX), usedAfter: new Date(now - SESSION_IDLE_MS_MAX) }
      const sessions = await listSessions(sql, session.user_id, since, SESSIONS_PER_USER_MAX)
      return { data: sessions.map((listed) => describe(listed, session.id)) }
    },
  )

  app.delete(
    '/app/api/account/sessions/:id',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'revokeSession',
        summary: 'End one of your sessions',
        description: 'Ends a session at once, everywhere.\n\nErrors: 404 `not_found` if you have no such session.',
        tags,
        params: OwnSessionPath,
        response: { 200: Envelope(SessionRevoked, 'The session has ended.') },
      },
    },
    async ({ session, params: { id } }, reply) => {
      const { user_id } = session
      const now = clock.now()
      await sql.begin(async (tx) => {
        if (!(await updateSessionEnd(tx, user_id, id, now))) throw createNotFoundError('session')
        await auditPerson(tx, user_id, { action: 'session.revoke', object: { type: 'session', id } }, now)
      })
      if (id === session.id) removeSessionCookie(reply, cookie)
      return { data: { revoked: true as const } }
    },
  )

  app.post(
    '/app/api/account/sessions/revoke-others',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'revokeOtherSessions',
        summary: 'End all your other sessions',
        description: 'Ends all your sessions except this one, at once and everywhere.',
        tags,
        response: { 200: Envelope(SessionsRevoked, 'The other sessions have ended.') },
      },
    },
    async ({ session: { id, user_id } }) => {
      const now = clock.now()
      const revoked = await sql.begin(async (tx) => {
        const ended = await updateSessionEnds(tx, user_id, id, now)
        const entry = { action: 'session.revoke', object: { type: 'user', id: user_id }, details: { sessions: ended } }
        await auditPerson(tx, user_id, entry, now)
        return ended
      })
      return { data: { revoked } }
    },
  )
}

function describe(listed: ListedSession, currentId: string) {
  const { id, method, created_at, signed_in_at, last_used_at, address, user_agent } = listed
  const [created, signedIn, lastUsed] = [created_at, signed_in_at, last_used_at].map((at) => at.toISOString()) as [
    string,
    string,
    string,
  ]
  const times = { created_at: created, signed_in_at: signedIn, last_used_at: lastUsed }
  return { id, current: id === currentId, method, ...times, address, user_agent }
}
