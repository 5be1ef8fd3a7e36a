import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { createInvalidFieldError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../user.ts'
import { authenticateByPasskey, createRequestOptions } from './authenticate-by-passkey.ts'
import { authenticateByPassword, getKnownSession, toGuesser } from './authenticate-by-password.ts'
import { readCurrentSession, readSessionOfToken } from './read-current-session.ts'
import { updateSessionEnd } from './session.store.ts'
import {
  defineSessionCookie,
  readSessionCookie,
  removeSessionCookie,
  writeSessionCookie,
  writeSignInCookies,
} from './session.ts'
import {
  Confirmation,
  CurrentSession,
  PasskeyOptions,
  PasskeySignIn,
  PasswordSignIn,
  ProofRefused,
  SignedOut,
} from './sign-in.schema.ts'
import { confirmSession, type Proof, signInPerson } from './sign-in-person.ts'
import { getSignInPlace } from './start-session.ts'

const SETS_COOKIE = 'Starts a session and sets its cookie. A session that the browser had ends.'
const LIMITED =
  '429 `rate_limited` after too many failed attempts for this account; `details.reason` is `WRONG_IN_A_ROW` if only a ' +
  'passkey, a browser that the account knows or a reset helps.'
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
    async (request, reply) => {
      const guesser = await toGuesser(services, request.body.email, getSignInPlace(request, cookie))
      return start(request, reply, await authenticateByPassword(services, request.body, guesser))
    },
  )

  app.post(
    '/app/api/sign-in/passkey/options',
    {
      config: { public: true },
      schema: {
        operationId: 'createPasskeySignInOptions',
        summary: 'Start a sign-in with a passkey',
        description:
          'Returns the options with which the browser asks for a passkey. The passkey tells which account it is for.',
        tags: ['Sign-in'],
        security: [],
        response: { 200: Envelope(PasskeyOptions, 'The options for the browser.') },
      },
    },
    async () => ({ data: { ...(await createRequestOptions(services, null)) } }),
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
          'expired, or the response does not verify.',
        tags: ['Sign-in'],
        security: [],
        body: PasskeySignIn,
        response: SIGNED_IN,
      },
    },
    async (request, reply) => {
      const credential = request.body.credential as AuthenticationResponseJSON
      return start(request, reply, await authenticateByPasskey(services, credential, null))
    },
  )

  async function start(request: FastifyRequest, reply: FastifyReply, proof: Proof) {
    const place = getSignInPlace(request, cookie)
    const token = await signInPerson(services, proof, { place, token: readSessionCookie(request, cookie) })
    writeSignInCookies(reply, cookie, { session: token, browser: place.browser })
    return { data: await readSessionOfToken(services, token) }
  }
}

/** The session of the request. */
export async function registerSessionRoutes(app: HttpServer, services: Services): Promise<void> {
  const cookie = defineSessionCookie(services.config.baseUrl)

  app.get(
    '/app/api/session',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'getSession',
        summary: 'Get the current session',
        description:
          'Returns who is signed in, their organizations with role and permissions, how recently they proved who they ' +
          'are, and how they can sign in.',
        tags: ['Sign-in'],
        response: { 200: Envelope(CurrentSession, 'The current session.') },
      },
    },
    async ({ session }) => ({ data: await readCurrentSession(services, session) }),
  )

  app.delete(
    '/app/api/session',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'signOut',
        summary: 'Sign out',
        description: 'Ends the session and removes its cookie. No copy of the cookie is accepted any more.',
        tags: ['Sign-in'],
        response: { 200: Envelope(SignedOut, 'The session has ended.') },
      },
    },
    async ({ session }, reply) => {
      const { id } = session
      const now = services.clock.now()
      await services.sql.begin(async (tx) => {
        if (!(await updateSessionEnd(tx, session, id, now))) return
        await auditPerson(tx, session, { action: 'session.end', object: { type: 'session', id } }, now)
      })
      removeSessionCookie(reply, cookie)
      return { data: { signed_out: true as const } }
    },
  )

  app.post(
    '/app/api/session/confirm/options',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'createPasskeyConfirmationOptions',
        summary: 'Start a confirmation with a passkey',
        description: 'Returns the options with which the browser asks for one of your passkeys.',
        tags: ['Sign-in'],
        response: { 200: Envelope(PasskeyOptions, 'The options for the browser.') },
      },
    },
    async ({ session }) => ({ data: { ...(await createRequestOptions(services, session.user_id)) } }),
  )

  app.post(
    '/app/api/session/confirm',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'confirmSession',
        summary: 'Confirm who you are',
        description:
          'Makes the session fresh, for actions that require a sign-in within the last 15 minutes. Send `password` (with ' +
          '`totp_code` or `recovery_code` if the account has TOTP) or `credential`. The session gets a new cookie. Users ' +
          'who sign in only by single sign-on sign in again instead.\n\nErrors: 401 `sign_in_failed`, `totp_required` or ' +
          `\`invalid_code\`. ${LIMITED}`,
        tags: ['Sign-in'],
        body: Confirmation,
        response: { 200: Envelope(CurrentSession, 'The session is fresh.'), 401: ProofRefused },
      },
    },
    async (request, reply) => {
      const proof = await prove(request, request.body)
      const visit = { place: getSignInPlace(request, cookie), token: readSessionCookie(request, cookie) }
      const token = await confirmSession(services, request.session, proof, visit)
      writeSessionCookie(reply, cookie, token)
      return { data: await readSessionOfToken(services, token) }
    },
  )

  function prove({ session, ip: address }: FastifyRequest, body: Static<typeof Confirmation>): Promise<Proof> {
    const { password, credential, ...codes } = body
    if ((password === undefined) === (credential === undefined))
      throw createInvalidFieldError('/body', 'must have either password or credential')
    if (password !== undefined)
      return authenticateByPassword(
        services,
        { email: session.email, password, ...codes },
        { address, known: getKnownSession(session) },
      )
    return authenticateByPasskey(services, credential as AuthenticationResponseJSON, session.user_id)
  }
}
