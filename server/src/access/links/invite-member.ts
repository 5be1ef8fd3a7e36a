import { insertAuditEntry } from '../../audit/audit.store.ts'
import { alreadyMember, tooManyInvitations } from '../../errors/organizations.ts'
import type { Organization } from '../../organizations/organization.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid, isUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { type Author, lockMembers, requireCovers } from '../members/author.ts'
import { requireRole } from '../members/manage-members.ts'
import { findMember } from '../members/member.store.ts'
import { type Permission, type Role, toStoredRole } from '../role.ts'
import { findUserOfOrganization } from '../user.store.ts'
import {
  countInvitations,
  findInvitation,
  findInvitationByEmail,
  INVITATIONS_MAX,
  type Invitation,
  insertLink,
  updateInvitation,
  updateLinkClosed,
} from './link.store.ts'
import { buildLinkAddress, createLinkToken, hashLinkToken, LINK_MS } from './link.ts'
import { type MailStatus, sendMail } from './send-mail.ts'

type Needs = Pick<Services, 'sql' | 'clock' | 'config' | 'log'>

/** The organization, and who invites to it. */
type Inviter = { organization: Organization; author: Author }

/** An invitation whose link was just made. The link is shown only once. */
export type SentInvitation = Invitation & { link: string; mail: MailStatus }

/**
 * Invites an email address to an organization, and mails the link. An open invitation of the
 * address is replaced. Throws 403 `insufficient_permission` for a role with a permission that the
 * author lacks, and 409 `already_member` or `too_many_invitations`.
 */
export async function inviteMember(
  services: Needs,
  inviter: Inviter,
  { email, roleId }: { email: string; roleId: string },
): Promise<SentInvitation> {
  const orgId = inviter.organization.id
  const made = await services.sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, inviter.author)
    const role = await requireRole(tx, orgId, roleId)
    requireCovers(held, role.permissions)
    await refuseMember(tx, orgId, email)
    await replaceInvitation(tx, orgId, { email, held }, services.clock.now())
    return makeInvitation(tx, inviter, { email, role }, services.clock.now())
  })
  return deliver(services, inviter, made)
}

/**
 * Replaces the link of an invitation by a new one, and mails it. Throws as `inviteMember` does, and
 * 404.
 */
export async function resendInvitation(services: Needs, inviter: Inviter, id: string): Promise<SentInvitation> {
  const orgId = inviter.organization.id
  const made = await services.sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, inviter.author)
    const now = services.clock.now()
    const { email, role: roleId } = await requireInvitation(tx, orgId, id, now)
    const role = await requireRole(tx, orgId, roleId)
    requireCovers(held, role.permissions)
    await refuseMember(tx, orgId, email)
    const { token, ...renewal } = newToken(inviter, now)
    await updateInvitation(tx, id, renewal)
    await record(tx, inviter, { action: 'invitation.resend', id, details: { email, role: roleId } }, now)
    return { invitation: await requireInvitation(tx, orgId, id, now), token }
  })
  return deliver(services, inviter, made)
}

/** Revokes an open invitation. Throws 403 `insufficient_permission` and 404. */
export async function revokeInvitation({ sql, clock }: Needs, { organization, author }: Inviter, id: string) {
  await sql.begin(async (tx) => {
    const held = await lockMembers(tx, organization.id, author)
    const now = clock.now()
    const { email, role: roleId } = await requireInvitation(tx, organization.id, id, now)
    requireCovers(held, (await requireRole(tx, organization.id, roleId)).permissions)
    await updateLinkClosed(tx, id, now)
    const change = { action: 'invitation.revoke', id, details: { email, role: roleId } }
    await record(tx, { organization, author }, change, now)
  })
}

async function requireInvitation(tx: Tx, orgId: string, id: string, now: Date): Promise<Invitation> {
  const invitation = isUuid(id) ? await findInvitation(tx, orgId, id, now) : null
  if (invitation === null) throw createNotFoundError('invitation')
  return invitation
}

async function refuseMember(tx: Tx, orgId: string, email: string): Promise<void> {
  const user = await findUserOfOrganization(tx, orgId, email)
  if (user === null || (await findMember(tx, orgId, user.id)) === null) return
  throw alreadyMember('The person with this email address is a member of the organization.')
}

type Replacement = { email: string; held: readonly Permission[] }

/** Replacing an invitation requires what revoking it requires. */
async function replaceInvitation(tx: Tx, orgId: string, { email, held }: Replacement, now: Date): Promise<void> {
  const open = await findInvitationByEmail(tx, orgId, email)
  if (open !== null) {
    requireCovers(held, (await requireRole(tx, orgId, open.role)).permissions)
    await updateLinkClosed(tx, open.id, now)
  } else if ((await countInvitations(tx, orgId)) >= INVITATIONS_MAX) throw tooManyInvitations(INVITATIONS_MAX)
}

type Made = { invitation: Invitation; token: string }

async function makeInvitation(tx: Tx, inviter: Inviter, { email, role }: { email: string; role: Role }, now: Date) {
  const orgId = inviter.organization.id
  const { token, ...fields } = newToken(inviter, now)
  const id = createUuid(now)
  const target = { org_id: orgId, id, kind: 'invitation', email, user_id: null, created_at: now } as const
  await insertLink(tx, { ...target, ...toStoredRole(role), ...fields })
  await record(tx, inviter, { action: 'invitation.create', id, details: { email, role: role.id } }, now)
  return { invitation: await requireInvitation(tx, orgId, id, now), token }
}

function newToken({ author }: Inviter, now: Date) {
  const token = createLinkToken()
  return {
    token,
    token_sha256: hashLinkToken(token),
    created_by_user_id: author.userId,
    created_by_name: author.principal.name,
    expires_at: new Date(now.getTime() + LINK_MS.invitation),
  }
}

/** After the commit, so that no link is mailed that does not exist. */
async function deliver(services: Needs, { organization, author }: Inviter, { invitation, token }: Made) {
  const link = buildLinkAddress(services.config.baseUrl, token)
  const text = `${author.userId === null ? 'An administrator' : author.principal.name} invites you to the organization "${organization.name}" on Shiplock, with the role ${invitation.role_name}.

Accept the invitation:

${link}

The link can be used once, until ${invitation.expires_at.toUTCString()}. If you do not expect this invitation, ignore this message.
`
  const mail = { to: invitation.email, subject: `Invitation to ${organization.name} on Shiplock`, text }
  return { ...invitation, link, mail: await sendMail(services, mail) }
}

type Recorded = { action: string; id: string; details: Record<string, unknown> }

async function record(tx: Tx, { organization, author }: Inviter, { action, id, details }: Recorded, now: Date) {
  const entry = { principal: author.principal, action, object: { type: 'invitation', id }, reason: null, details }
  await insertAuditEntry(tx, organization.id, entry, now)
}
