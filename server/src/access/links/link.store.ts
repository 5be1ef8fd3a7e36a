import { DAY_MS } from '../../platform/clock.ts'
import type { ExpiringShared } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { BUILT_IN_ROLES, type BuiltInRoleId } from '../role.ts'
import type { LinkKind } from './link.ts'

type LinkFields = {
  org_id: string | null
  id: string
  kind: LinkKind
  email: string | null
  built_in_role: BuiltInRoleId | null
  custom_role_id: string | null
  /** The account that is reset. */
  user_id: string | null
  created_by_user_id: string | null
  created_by_name: string
  created_at: Date
  expires_at: Date
}

/** A link that was neither used nor revoked, and has not expired. */
export type Link = LinkFields & { organization: { slug: string; name: string } | null }

export async function insertLink(tx: Tx, link: LinkFields & { token_sha256: Buffer }): Promise<void> {
  await tx`
    insert into links (
      org_id, id, kind, token_sha256, email, built_in_role, custom_role_id, user_id, created_by_user_id,
      created_by_name, created_at, expires_at
    )
    values (
      ${link.org_id}, ${link.id}, ${link.kind}, ${link.token_sha256}, ${link.email}, ${link.built_in_role},
      ${link.custom_role_id}, ${link.user_id}, ${link.created_by_user_id}, ${link.created_by_name},
      ${link.created_at}, ${link.expires_at}
    )`
}

/** Finds the link that a token opens. */
export async function findOpenLink(db: Db, tokenSha256: Buffer, now: Date): Promise<Link | null> {
  const [row] = await db<Link[]>`
    select link.org_id, link.id, link.kind, link.email, link.built_in_role, link.custom_role_id, link.user_id,
      link.created_by_user_id, link.created_by_name, link.created_at, link.expires_at,
      case when org.id is not null then json_build_object('slug', org.slug, 'name', org.name) end as organization
    from links link
    left join organizations org on org.id = link.org_id
    where link.token_sha256 = ${tokenSha256}
      and link.closed_at is null
      and link.expires_at > ${now}`
  return row ?? null
}

type Renewal = { token_sha256: Buffer; created_by_user_id: string | null; created_by_name: string; expires_at: Date }

/** Gives an invitation another token and author. */
export async function updateInvitation(tx: Tx, id: string, renewal: Renewal): Promise<void> {
  await tx`
    update links
    set token_sha256 = ${renewal.token_sha256}, created_by_user_id = ${renewal.created_by_user_id},
      created_by_name = ${renewal.created_by_name}, expires_at = ${renewal.expires_at}
    where id = ${id}`
}

/** Closes a link. Returns false if it was closed already: of parallel calls, one succeeds. */
export async function updateLinkClosed(tx: Tx, id: string, at: Date): Promise<boolean> {
  const rows = await tx`
    update links
    set closed_at = ${at}
    where id = ${id}
      and closed_at is null
    returning id`
  return rows.length > 0
}

/** Closes all setup links of an organization. */
export async function updateSetupLinksClosed(tx: Tx, orgId: string, at: Date): Promise<void> {
  await tx`
    update links
    set closed_at = ${at}
    where org_id = ${orgId}
      and kind = 'setup'
      and closed_at is null`
}

/** Closes all links that reset an account. */
export async function updateResetLinksClosed(tx: Tx, userId: string, at: Date): Promise<void> {
  await tx`
    update links
    set closed_at = ${at}
    where user_id = ${userId}
      and kind = 'reset'
      and closed_at is null`
}

/** Open invitations per organization. */
export const INVITATIONS_MAX = 1000

/** An invitation as the API shows it. */
export type Invitation = {
  id: string
  email: string
  role: string
  role_name: string
  invited_by: string
  created_at: Date
  expires_at: Date
  expired: boolean
}

/** Invitations that were neither accepted nor revoked, newest first. */
export async function listInvitations(db: Db, orgId: string, now: Date): Promise<Invitation[]> {
  return db<Invitation[]>`
    ${selectInvitations(db, now)}
    where link.org_id = ${orgId}
      and link.kind = 'invitation'
      and link.closed_at is null
    order by link.created_at desc, link.id desc
    limit ${INVITATIONS_MAX}`
}

/** An invitation that was neither accepted nor revoked. */
export async function findInvitation(db: Db, orgId: string, id: string, now: Date): Promise<Invitation | null> {
  const [row] = await db<Invitation[]>`
    ${selectInvitations(db, now)}
    where link.org_id = ${orgId}
      and link.id = ${id}
      and link.kind = 'invitation'
      and link.closed_at is null`
  return row ?? null
}

function selectInvitations(db: Db, now: Date) {
  const names = Object.fromEntries(Object.entries(BUILT_IN_ROLES).map(([id, { name }]) => [id, name]))
  return db`
    select link.id, link.email, coalesce(link.built_in_role, link.custom_role_id::text) as role,
      coalesce(${JSON.stringify(names)}::text::json ->> link.built_in_role, role.name) as role_name,
      link.created_by_name as invited_by, link.created_at, link.expires_at, link.expires_at <= ${now} as expired
    from links link
    left join custom_roles role on role.org_id = link.org_id and role.id = link.custom_role_id`
}

type OpenInvitation = { id: string; role: string }

/** The open invitation of an address, expired or not. */
export async function findInvitationByEmail(db: Db, orgId: string, email: string): Promise<OpenInvitation | null> {
  const [row] = await db<OpenInvitation[]>`
    select id, coalesce(built_in_role, custom_role_id::text) as role
    from links
    where org_id = ${orgId}
      and email = ${email}
      and kind = 'invitation'
      and closed_at is null`
  return row ?? null
}

export async function countInvitations(db: Db, orgId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from links
    where org_id = ${orgId}
      and kind = 'invitation'
      and closed_at is null`
  return row.count
}

const KEPT_MS = 90 * DAY_MS

/**
 * Links that were used, revoked or replaced, or that can no longer be used. An invitation that was
 * not accepted stays, because it is listed and can be renewed.
 */
export const expiringLinks: ExpiringShared = {
  kind: 'links',
  async count(db, at) {
    const [row] = await db<[{ count: number }]>`
      select count(*) as count
      ${oldLinks(db, at)}`
    return row.count
  },
  async remove(tx, at, limit) {
    const { count } = await tx`
      delete from links
      where id in (
        select id
        ${oldLinks(tx, at)}
        limit ${limit}
      )`
    return count
  },
}

function oldLinks(db: Db, at: Date): ReturnType<Db> {
  return db`
    from links
    where coalesce(closed_at, case when kind <> 'invitation' then expires_at end) < ${new Date(at.getTime() - KEPT_MS)}`
}
