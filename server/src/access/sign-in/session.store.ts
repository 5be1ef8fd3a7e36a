import type { Organization } from '../../organizations/organization.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { BuiltInRoleId, Permission } from '../role.ts'
import type { AccountScope } from '../user.store.ts'
import type { SessionTimes } from './session.ts'

export type SignInMethod = 'password' | 'passkey' | 'sso' | 'link'

type NewSession = {
  id: string
  user_id: string
  token_sha256: Buffer
  method: SignInMethod
  address: string | null
  user_agent: string | null
  /** The only organization that the session opens, if a provider of an organization started it. */
  org_id?: string | null
}

export async function insertSession(db: Db, session: NewSession, at: Date): Promise<void> {
  await db`
    insert into user_sessions (
      id, user_id, token_sha256, method, created_at, signed_in_at, last_used_at, address, user_agent,
      org_id
    )
    values (
      ${session.id}, ${session.user_id}, ${session.token_sha256}, ${session.method}, ${at}, ${at}, ${at},
      ${session.address}, ${session.user_agent}, ${session.org_id ?? null}
    )`
}

/** The membership of a user, with the role or the permissions of the custom role. */
export type Membership = {
  organization: Organization
  built_in_role: BuiltInRoleId | null
  custom_permissions: Permission[] | null
}

export type FoundSession = SessionTimes & {
  id: string
  user_id: string
  email: string
  name: string
  method: SignInMethod
  /** The only organization that the session opens; null: every one of the user. */
  org_id: string | null
  /** Null if the user does not belong to the organization. */
  membership: Membership | null
}

/**
 * Finds a session that was not ended, and the membership of its user in the organization `slug`.
 * Nothing is cached, so that every change takes effect with the next request of every process.
 */
export async function findSession(db: Db, tokenSha256: Buffer, slug: string | null): Promise<FoundSession | null> {
  const [row] = await db<FoundSession[]>`
    select session.id, session.user_id, person.email, person.name, session.method, session.org_id, session.created_at,
      session.last_used_at, session.signed_in_at,
      case when member.org_id is not null then
        json_build_object(
          'organization', json_build_object('id', org.id, 'slug', org.slug, 'name', org.name, 'plan', org.plan),
          'built_in_role', member.built_in_role, 'custom_permissions', role.permissions
        )
      end as membership
    from user_sessions session
    join users person on person.id = session.user_id and person.disabled_at is null
    left join organizations org on org.slug = ${slug} and (session.org_id is null or session.org_id = org.id)
    left join members member
      on member.org_id = org.id and member.user_id = session.user_id and member.disabled_at is null
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    where session.token_sha256 = ${tokenSha256}
      and session.ended_at is null`
  return row ?? null
}

/** Stores the minute of the last use. Earlier ones are kept. */
export async function updateSessionLastUse(db: Db, id: string, minute: Date): Promise<void> {
  await db`
    update user_sessions
    set last_used_at = ${minute}
    where id = ${id}
      and last_used_at < ${minute}`
}

/**
 * Replaces the token of a session whose user has proved again who they are. Returns false if the
 * session has ended or another request has replaced the token.
 */
export async function updateSessionToken(
  db: Db,
  id: string,
  { from, to }: { from: Buffer; to: Buffer },
  signedInAt: Date,
): Promise<boolean> {
  const { count } = await db`
    update user_sessions
    set token_sha256 = ${to}, signed_in_at = ${signedInAt}, last_used_at = ${signedInAt}
    where id = ${id}
      and token_sha256 = ${from}
      and ended_at is null`
  return count === 1
}

export type ListedSession = SessionTimes & {
  id: string
  method: SignInMethod
  address: string | null
  user_agent: string | null
  /** The name of the organization whose provider started it. */
  organization: string | null
}

function belongsTo(db: Db, { user_id, org_id }: AccountScope) {
  return db`session.user_id = ${user_id} ${org_id ? db`and session.org_id = ${org_id}` : db``}`
}

type LiveSince = { createdAfter: Date; usedAfter: Date }

/** The sessions that can be used, newest first. */
export async function listSessions(
  db: Db,
  scope: AccountScope,
  { createdAfter, usedAfter }: LiveSince,
  limit: number,
): Promise<ListedSession[]> {
  return db<ListedSession[]>`
    select session.id, session.method, session.created_at, session.last_used_at, session.signed_in_at, session.address,
      session.user_agent, org.name as organization
    from user_sessions session
    left join organizations org on org.id = session.org_id
    where ${belongsTo(db, scope)}
      and session.ended_at is null
      and session.created_at > ${createdAfter}
      and session.last_used_at > ${usedAfter}
    order by session.created_at desc, session.id desc
    limit ${limit}`
}

/** Returns false if there is no such session in the scope, or it has ended. */
export async function updateSessionEnd(db: Db, scope: AccountScope, id: string, at: Date): Promise<boolean> {
  const { count } = await db`
    update user_sessions session
    set ended_at = ${at}
    where session.id = ${id}
      and ${belongsTo(db, scope)}
      and session.ended_at is null`
  return count === 1
}

/** Ends the session with this token, whoever it belongs to. */
export async function updateSessionEndByToken(db: Db, tokenSha256: Buffer, at: Date): Promise<void> {
  await db`
    update user_sessions
    set ended_at = ${at}
    where token_sha256 = ${tokenSha256}
      and ended_at is null`
}

/** Ends all sessions of the scope except `keptId`. Returns their number. */
export async function updateSessionEnds(db: Db, scope: AccountScope, keptId: string | null, at: Date): Promise<number> {
  const { count } = await db`
    update user_sessions session
    set ended_at = ${at}
    where ${belongsTo(db, scope)}
      and session.ended_at is null
      and session.id is distinct from ${keptId}`
  return count
}

/** Ends the sessions that the single sign-on of an organization has started. */
export async function updateSessionEndsOfProvider(db: Db, orgId: string, at: Date): Promise<void> {
  await db`
    update user_sessions
    set ended_at = ${at}
    where org_id = ${orgId}
      and ended_at is null`
}

/**
 * Ends the least recently used sessions of a user, so that `kept` are left besides `newestId`.
 * Those that the provider of an organization has started, and all others, are counted apart.
 */
export async function updateExcessSessionEnds(
  db: Db,
  { user_id, org_id }: Required<AccountScope>,
  { newestId, kept }: { newestId: string; kept: number },
  at: Date,
): Promise<void> {
  await db`
    update user_sessions
    set ended_at = ${at}
    where id in (
      select id
      from user_sessions
      where user_id = ${user_id}
        and org_id is not distinct from ${org_id}
        and ended_at is null
        and id <> ${newestId}
      order by last_used_at desc, id desc
      offset ${kept}
    )`
}

/** Removes sessions that nobody could use after `before`. */
export async function deleteOldSessions(db: Db, before: Date): Promise<void> {
  await db`
    delete from user_sessions
    where ended_at < ${before}
      or last_used_at < ${before}`
}

/** Whether a person with this email address has signed in in the browser with this token. */
export async function isKnownBrowser(db: Db, email: string, tokenSha256: Buffer): Promise<boolean> {
  const rows = await db`
    select from known_browsers browser
    join users person on person.id = browser.user_id
    where person.email = ${email}
      and browser.token_sha256 = ${tokenSha256}`
  return rows.length === 1
}

/** Stores that a person has signed in in a browser. Keeps the `kept` that were used last. */
export async function upsertKnownBrowser(
  db: Db,
  userId: string,
  { tokenSha256, kept }: { tokenSha256: Buffer; kept: number },
  at: Date,
): Promise<void> {
  await db`
    insert into known_browsers (user_id, token_sha256, last_used_at)
    values (${userId}, ${tokenSha256}, ${at})
    on conflict (user_id, token_sha256) do update
    set last_used_at = excluded.last_used_at`
  await db`
    delete from known_browsers
    where user_id = ${userId}
      and token_sha256 in (
        select token_sha256
        from known_browsers
        where user_id = ${userId}
        order by last_used_at desc, token_sha256 = ${tokenSha256} desc
        offset ${kept}
      )`
}

export async function deleteOldKnownBrowsers(db: Db, before: Date): Promise<void> {
  await db`
    delete from known_browsers
    where last_used_at < ${before}`
}
