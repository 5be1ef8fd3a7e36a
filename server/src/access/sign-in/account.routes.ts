import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { auditPerson, requireUserName } from '../user.ts'
import {
  AccountChange,
  OwnSession,
  OwnSessionPath,
  PasswordChange,
  PasswordChanged,
  RecoveryCodes,
  SessionRevoked,
  SessionsRevoked,
  TotpConfirmation,
  TotpDisabled,
  TotpEnrolment,
} from './account.schema.ts'
import { updateUserName } from './account.store.ts'
import { getKnownSession } from './authenticate-by-password.ts'
import { readCurrentSession } from './read-current-session.ts'
import { confirmEnrolment, removeTotp, rotateRecoveryCodes, startEnrolment } from './second-factor.ts'
import { type ListedSession, listSessions, updateSessionEnd, updateSessionEnds } from './session.store.ts'
import {
  defineSessionCookie,
  readSessionCookie,
  removeSessionCookie,
  SESSION_IDLE_MS_MAX,
  SESSION_MS_MAX,
  writeSessionCookie,
} from './session.ts'
import { updatePassword } from './set-password.ts'
import { CurrentSession, ProofRefused } from './sign-in.schema.ts'
import { SESSIONS_PER_USER_MAX } from './start-session.ts'

const tags = ['Account']

/** What users change about their own account. */
export async function registerAccountRoutes(app: HttpServer, services: Services): Promise<void> {
  const cookie = defineSessionCookie(services.config.baseUrl)

  app.patch(
    '/app/api/account',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'updateAccount',
        summary: 'Change your name',
        description: 'Changes the name that other people see.',
        tags,
        body: AccountChange,
        response: { 200: Envelope(CurrentSession, 'The current session with the new name.') },
      },
    },
    async ({ session, body }) => {
      const name = requireUserName(body.name)
      const { user_id, name: from } = session
      const entry = { action: 'account.rename', object: { type: 'user', id: user_id }, details: { from, to: name } }
      await services.sql.begin(async (tx) => {
        await updateUserName(tx, user_id, name)
        await auditPerson(tx, session, entry, services.clock.now())
      })
      return { data: await readCurrentSession(services, { ...session, name }) }
    },
  )

  app.put(
    '/app/api/account/password',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'changePassword',
        summary: 'Change your password',
        description:
          'Changes the password, or sets the first one. Your other sessions end, and this one gets a new cookie.\n\n' +
          'Errors: 400 `weak_password` if the new password is easy to guess. 401 `sign_in_failed` if the present password ' +
          'is wrong. 429 `rate_limited` after too many failed attempts.',
        tags,
        body: PasswordChange,
        response: { 200: Envelope(PasswordChanged, 'The password was changed.'), 401: ProofRefused },
      },
    },
    async (request, reply) => {
      const guesser = { address: request.ip, known: getKnownSession(request.session) }
      const presented = { token: readSessionCookie(request, cookie) ?? '', guesser }
      const token = await updatePassword(services, request.session, { ...request.body, ...presented })
      writeSessionCookie(reply, cookie, token)
      return { data: { changed: true as const } }
    },
  )

  app.post(
    '/app/api/account/totp',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'startTotpEnrolment',
        summary: 'Start the enrolment of TOTP',
        description:
          'Returns a new secret for an authenticator app. TOTP is on after a code was confirmed. An enrolment that was not ' +
          'confirmed is replaced.\n\nErrors: 409 `totp_enabled` if TOTP is on.',
        tags,
        response: { 200: Envelope(TotpEnrolment, 'The secret for the authenticator app.') },
      },
    },
    async ({ session }) => ({ data: await startEnrolment(services, session) }),
  )

  app.post(
    '/app/api/account/totp/confirm',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'confirmTotpEnrolment',
        summary: 'Turn TOTP on',
        description:
          'Turns TOTP on with a code of the authenticator app. Returns recovery codes, which are shown only once.\n\n' +
          'Errors: 401 `invalid_code` if the code is wrong. 409 `totp_not_started` if no enrolment was started. 429 ' +
          '`rate_limited` after too many wrong codes.',
        tags,
        body: TotpConfirmation,
        response: { 200: Envelope(RecoveryCodes, 'TOTP is on.'), 401: ProofRefused },
      },
    },
    async ({ session, body, ip }) => ({
      data: { recovery_codes: await confirmEnrolment(services, session, { code: body.code, address: ip }) },
    }),
  )

  app.delete(
    '/app/api/account/totp',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'disableTotp',
        summary: 'Turn TOTP off',
        description:
          'Removes the authenticator app and the recovery codes. Your other sessions end.\n\nErrors: 409 ' +
          '`totp_not_enabled` if TOTP is off.',
        tags,
        response: { 200: Envelope(TotpDisabled, 'TOTP is off.') },
      },
    },
    async ({ session }) => {
      await removeTotp(services, session)
      return { data: { disabled: true as const } }
    },
  )

  app.post(
    '/app/api/account/recovery-codes',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'createRecoveryCodes',
        summary: 'Create new recovery codes',
        description:
          'Replaces all recovery codes. The new ones are shown only once.\n\nErrors: 409 `totp_not_enabled` if TOTP is off.',
        tags,
        response: { 200: Envelope(RecoveryCodes, 'The new recovery codes.') },
      },
    },
    async ({ session }) => ({ data: { recovery_codes: await rotateRecoveryCodes(services, session) } }),
  )
}

/** The sessions of the user who is signed in. */
export async function registerOwnSessionRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql, clock } = services
  const cookie = defineSessionCookie(services.config.baseUrl)

  app.get(
    '/app/api/account/sessions',
    {
      config: { signedIn: true, limited: true },
      schema: {
        operationId: 'listSessions',
        summary: 'List your sessions',
        description:
          'Your sessions that have not ended, newest first, at most 100. In a session of the identity provider of an ' +
          'organization, those that it has started.',
        tags,
        response: { 200: Envelope(Type.Array(OwnSession), 'Your sessions.') },
      },
    },
    async ({ session }) => {
      const now = clock.now().getTime()
      const since = { createdAfter: new Date(now - SESSION_MS_MAX), usedAfter: new Date(now - SESSION_IDLE_MS_MAX) }
      const sessions = await listSessions(sql, session, since, SESSIONS_PER_USER_MAX)
      return { data: sessions.map((listed) => describe(listed, session.id)) }
    },
  )

  app.delete(
    '/app/api/account/sessions/:id',
    {
      config: { signedIn: true, limited: true },
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
      const now = clock.now()
      await sql.begin(async (tx) => {
        if (!(await updateSessionEnd(tx, session, id, now))) throw createNotFoundError('session')
        await auditPerson(tx, session, { action: 'session.revoke', object: { type: 'session', id } }, now)
      })
      if (id === session.id) removeSessionCookie(reply, cookie)
      return { data: { revoked: true as const } }
    },
  )

  app.post(
    '/app/api/account/sessions/revoke-others',
    {
      config: { signedIn: true, limited: true },
      schema: {
        operationId: 'revokeOtherSessions',
        summary: 'End all your other sessions',
        description:
          'Ends all your sessions except this one, at once and everywhere. In a session of the identity provider of an ' +
          'organization, those that it has started.',
        tags,
        response: { 200: Envelope(SessionsRevoked, 'The other sessions have ended.') },
      },
    },
    async ({ session }) => {
      const now = clock.now()
      const revoked = await sql.begin(async (tx) => {
        const ended = await updateSessionEnds(tx, session, session.id, now)
        const entry = {
          action: 'session.revoke',
          object: { type: 'user', id: session.user_id },
          details: { sessions: ended },
        }
        await auditPerson(tx, session, entry, now)
        return ended
      })
      return { data: { revoked } }
    },
  )
}

function describe(listed: ListedSession, currentId: string) {
  const { id, method, created_at, signed_in_at, last_used_at, address, user_agent, organization } = listed
  const [created, signedIn, lastUsed] = [created_at, signed_in_at, last_used_at].map((at) => at.toISOString()) as [
    string,
    string,
    string,
  ]
  const times = { created_at: created, signed_in_at: signedIn, last_used_at: lastUsed }
  return { id, current: id === currentId, method, organization, ...times, address, user_agent }
}
