import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../sessions/audit-person.ts'
import { defineSessionCookie, readSessionCookie, writeSessionCookie } from '../sessions/session-cookie.ts'
import { requireUserName } from '../users/user-name.ts'
import {
  AccountChange,
  PasswordChange,
  PasswordChanged,
  RecoveryCodes,
  TotpConfirmation,
  TotpDisabled,
  TotpEnrolment,
} from './account.schema.ts'
import { updateUserName } from './account.store.ts'
import { confirmEnrolment, removeTotp, rotateRecoveryCodes, startEnrolment } from './enroll-totp.ts'
import { readCurrentSession } from './read-current-session.ts'
import { updatePassword } from './set-password.ts'
import { CurrentSession, ProofRefused } from './sign-in.schema.ts'

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
        await auditPerson(tx, user_id, entry, services.clock.now())
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
          'is wrong. 429 `rate_limited` after too many failed attempts for this account or from this address.',
        tags,
        body: PasswordChange,
        response: { 200: Envelope(PasswordChanged, 'The password was changed.'), 401: ProofRefused },
      },
    },
    async (request, reply) => {
      const presented = { token: readSessionCookie(request, cookie) ?? '', address: request.ip }
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
    async ({ session, body }) => ({
      data: { recovery_codes: await confirmEnrolment(services, session, body.code) },
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
