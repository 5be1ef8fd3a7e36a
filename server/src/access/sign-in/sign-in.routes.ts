import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { defineSessionCookie, readSessionCookie, writeSessionCookie } from '../sessions/session-cookie.ts'
import { getSignInPlace } from '../sessions/start-session.ts'
import type { Proof } from './proof.ts'
import { authenticateByPasskey, createRequestOptions } from './prove-by-passkey.ts'
import { authenticateByPassword } from './prove-by-password.ts'
import { readSessionOfToken } from './read-current-session.ts'
import { CurrentSession, PasskeyOptions, PasskeySignIn, PasswordSignIn, ProofRefused } from './sign-in.schema.ts'
import { signInPerson } from './sign-in-person.ts'

const SETS_COOKIE = 'Starts a session and sets its cookie. A session that the browser had ends.'
const LIMITED = '429 `rate_limited` after too many failed attempts for this account or from this address.'
const SIGNED_IN = { 200: Envelope(CurrentSession, 'You are signed in.'), 401: ProofRefused }

/** The ways to sign in that need nothing but this server. */
export async function registerSignInRoutes(app: HttpServer, services: Services): Promise<void> {
  const cookie = defineSessionCookie(services.config.baseUrl)

  app.post(
    '/app/api/sign-in/password',
    {
      config: { public: true },
      schema: {
        operationId: 'signInWithPassword',
        summary: 'Sign in with a password',
        description:
          `${SETS_COOKIE} If the account has TOTP, a request without a code fails with \`totp_required\`: repeat it with ` +
          '`totp_code` or `recovery_code`.\n\nErrors: 401 `sign_in_failed` if the account or the password is wrong, ' +
          `\`totp_required\`, \`invalid_code\`. ${LIMITED}`,
        tags: ['Sign-in'],
        security: [],
        body: PasswordSignIn,
        response: SIGNED_IN,
      },
    },
    async (request, reply) => start(request, reply, await authenticateByPassword(services, request.body, request.ip)),
  )

  app.post(
    '/app/api/sign-in/passkey/options',
    {
      config: { public: true },
      schema: {
        operationId: 'createPasskeySignInOptions',
        summary: 'Start a sign-in with a passkey',
        description:
          'Returns the options with which the browser asks for a passkey. The passkey tells which account it is for.\n\n' +
          'Errors: 429 `rate_limited` after too many requests from this address.',
        tags: ['Sign-in'],
        security: [],
        response: { 200: Envelope(PasskeyOptions, 'The options for the browser.') },
      },
    },
    async ({ ip }) => ({ data: { ...(await createRequestOptions(services, { userId: null, address: ip })) } }),
  )

  app.post(
    '/app/api/sign-in/passkey',
    {
      config: { public: true },
      schema: {
        operationId: 'signInWithPasskey',
        summary: 'Sign in with a passkey',
        description:
          `${SETS_COOKIE}\n\nErrors: 401 \`sign_in_failed\` if the passkey is unknown, the challenge was used or has ` +
          `expired, or the response does not verify. ${LIMITED}`,
        tags: ['Sign-in'],
        security: [],
        body: PasskeySignIn,
        response: SIGNED_IN,
      },
    },
    async (request, reply) => {
      const credential = request.body.credential as AuthenticationResponseJSON
      return start(
        request,
        reply,
        await authenticateByPasskey(services, credential, { userId: null, address: request.ip }),
      )
    },
  )

  async function start(request: FastifyRequest, reply: FastifyReply, proof: Proof) {
    const visit = { place: getSignInPlace(request), token: readSessionCookie(request, cookie) }
    const token = await signInPerson(services, proof, visit)
    writeSessionCookie(reply, cookie, token)
    return { data: await readSessionOfToken(services, token) }
  }
}
