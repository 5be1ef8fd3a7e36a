import type { FastifyRequest } from 'fastify'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { auditPerson } from '../user.ts'
import {
  insertSession,
  type SignInMethod,
  updateExcessSessionEnds,
  updateSessionEndByToken,
  upsertKnownBrowser,
} from './session.store.ts'
import { createSessionToken, hashSessionToken, readBrowserToken, type SessionCookie } from './session.ts'

/**
 * Where a sign-in came from, as the user sees it in the list of sessions, and the token by which
 * the browser is known afterwards.
 */
export type SignInPlace = { address: string | null; user_agent: string | null; browser: string }

const USER_AGENT_CHARS_MAX = 300
/** Sessions of one user that were not ended. A sign-in beyond that ends the least recently used. */
export const SESSIONS_PER_USER_MAX = 100
const BROWSERS_PER_USER_MAX = 20

export function getSignInPlace(request: FastifyRequest, cookie: SessionCookie): SignInPlace {
  const user_agent = request.headers['user-agent']?.slice(0, USER_AGENT_CHARS_MAX) ?? null
  return { address: request.ip, user_agent, browser: readBrowserToken(request, cookie) }
}

type SignIn = {
  userId: string
  method: SignInMethod
  place: SignInPlace
  now: Date
  /** The token that the browser sent, if any. Its session ends, because the new one replaces it. */
  replaces?: string | null
  /**
   * Limits the session to this organization, whose identity provider the user has signed in with.
   */
  orgId?: string | null
}

/**
 * Starts a session and returns its token. Every sign-in gets a new token, so that nobody can choose
 * the token of somebody else (session fixation). Records the sign-in in the audit logs of the
 * user's organizations. The browser is known from then on, unless the provider of one organization
 * has said who the user is.
 */
export async function startSession(
  tx: Tx,
  { userId, method, place, now, replaces = null, orgId = null }: SignIn,
): Promise<string> {
  const token = createSessionToken()
  const session = {
    id: createUuid(now),
    user_id: userId,
    token_sha256: hashSessionToken(token),
    method,
    org_id: orgId,
    address: place.address,
    user_agent: place.user_agent,
  }
  if (replaces !== null) await updateSessionEndByToken(tx, hashSessionToken(replaces), now)
  await insertSession(tx, session, now)
  const scope = { user_id: userId, org_id: orgId }
  await updateExcessSessionEnds(tx, scope, { newestId: session.id, kept: SESSIONS_PER_USER_MAX - 1 }, now)
  const browser = { tokenSha256: hashSessionToken(place.browser), kept: BROWSERS_PER_USER_MAX }
  if (orgId === null) await upsertKnownBrowser(tx, userId, browser, now)
  const details = { method, address: place.address }
  const object = { type: 'session', id: session.id }
  await auditPerson(tx, scope, { action: 'session.start', object, details }, now)
  return token
}
