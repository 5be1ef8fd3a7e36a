import type { Services } from '../../services.ts'
import { BUILT_IN_ROLES } from '../role.ts'
import { listOwnOrganizations, type OwnOrganization } from '../user.store.ts'
import { findMethods } from './account.store.ts'
import { type FoundSession, findSession } from './session.store.ts'
import { FRESH_MS_MAX, hashSessionToken, isFresh, SESSION_IDLE_MS_MAX, SESSION_MS_MAX } from './session.ts'
import type { CurrentSession } from './sign-in.schema.ts'
import { createSessionEndedError } from './sign-in-person.ts'

/** Describes the session that a sign-in has just started. */
export async function readSessionOfToken(services: Services, token: string): Promise<CurrentSession> {
  const session = await findSession(services.sql, hashSessionToken(token), null)
  if (session === null) throw createSessionEndedError()
  return readCurrentSession(services, session)
}

/** Describes who is signed in, what they may do, and how they can sign in. */
export async function readCurrentSession({ sql, clock }: Services, session: FoundSession): Promise<CurrentSession> {
  const { user_id, email, name } = session
  const isLimited = session.org_id !== null
  const [methods, organizations] = await Promise.all([
    isLimited ? NO_METHODS : findMethods(sql, user_id),
    listOwnOrganizations(sql, user_id),
  ])
  // A session of an organization's identity provider shows only this organization.
  const shown = organizations.filter(({ id }) => !isLimited || session.org_id === id)
  return {
    user: { id: user_id, email, name },
    session: { ...describeSession(session, clock.now()), limited: isLimited },
    sign_in_methods: methods,
    organizations: shown.map(describeOrganization),
  }
}

const NO_METHODS = { password: false, totp: false, recovery_codes_left: 0, passkeys: 0 }

function describeSession(session: FoundSession, now: Date): Omit<CurrentSession['session'], 'limited'> {
  const { id, method, created_at, signed_in_at, last_used_at } = session
  const ends = Math.min(created_at.getTime() + SESSION_MS_MAX, last_used_at.getTime() + SESSION_IDLE_MS_MAX)
  return {
    id,
    method,
    created_at: created_at.toISOString(),
    signed_in_at: signed_in_at.toISOString(),
    fresh: isFresh(session, now),
    fresh_until: new Date(signed_in_at.getTime() + FRESH_MS_MAX).toISOString(),
    expires_at: new Date(ends).toISOString(),
  }
}

function describeOrganization(organization: OwnOrganization): CurrentSession['organizations'][number] {
  const { id, slug, name, is_demo, built_in_role, custom_role } = organization
  if (built_in_role !== null) {
    const { name: roleName, permissions } = BUILT_IN_ROLES[built_in_role]
    return {
      id,
      slug,
      name,
      is_demo,
      role: { id: built_in_role, name: roleName, built_in: true },
      permissions: [...permissions],
    }
  }
  if (custom_role === null) throw new Error(`A member of the organization ${slug} has no role.`)
  const { permissions, ...role } = custom_role
  return { id, slug, name, is_demo, role: { ...role, built_in: false }, permissions }
}
