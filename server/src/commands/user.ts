import { createResetLink } from '../access/links/account-links.ts'
import { inviteMember } from '../access/links/invite-member.ts'
import { COMMAND_LINE_AUTHOR } from '../access/members/author.ts'
import { assignMemberRole, updateAccountAccess, updateMemberAccess } from '../access/members/manage-members.ts'
import { BUILT_IN_ROLE_IDS } from '../access/role.ts'
import { findUserOfOrganization, type ListedUser, listUsers, listUsersByEmail } from '../access/user.store.ts'
import { requireEmail } from '../access/user.ts'
import { requireOrganization } from '../organizations/organization.ts'
import type { Db } from '../platform/db/sql.ts'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { Services } from '../services.ts'
import { type Context, defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const
const ROLE = {
  type: 'text',
  value: 'R',
  about: `the role: ${BUILT_IN_ROLE_IDS.join(', ')}, or the id of a custom role`,
  required: true,
} as const
const author = COMMAND_LINE_AUTHOR

export const userInvite = defineCommand({
  name: 'user invite',
  about: 'Makes a link with which a person joins an organization. It can be used once, within 7 days.',
  arguments: ['email'],
  options: { org: ORG, role: ROLE },
  async run(context, { email }, options) {
    const invitation = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, options.org)
      return inviteMember(services, { organization, author }, { email: requireEmail(email), roleId: options.role })
    })
    const { link, expires_at, mail, role_name } = invitation
    const mailed = mail === 'sent' ? ' It was mailed, too.' : mail === 'failed' ? ' It could not be mailed.' : ''
    const validity = `The link makes ${invitation.email} ${role_name} of ${options.org}. It can be used once, until ${expires_at.toISOString()}.`
    context.print({ json: invitation, text: `${link}\n\n${validity}${mailed}` })
  },
})

export const userList = defineCommand({
  name: 'user list',
  about: 'Lists the users, with their organizations and roles.',
  arguments: [],
  options: { org: { type: 'text', value: '<slug>', about: 'only the members of this organization' } },
  async run(context, _given, { org }) {
    const users = await withServices(context, async ({ sql }) =>
      listUsers(sql, org === undefined ? null : (await requireOrganization(sql, org)).id),
    )
    const rows = users.map(toRow)
    context.print({
      json: users,
      text: formatTable(['EMAIL', 'NAME', 'STATUS', 'ROLES', 'ID'], rows, 'There are no users.'),
    })
  },
})

const SCOPE = {
  type: 'text',
  value: '<slug>',
  about: 'only in this organization (default: the whole account)',
} as const

export const userDisable = defineCommand({
  name: 'user disable',
  about: 'Takes all access from a user at once.',
  arguments: ['email'],
  options: { org: SCOPE },
  run: (context, { email }, { org }) => setAccess(context, { email, org, isEnabled: false }),
})

export const userEnable = defineCommand({
  name: 'user enable',
  about: 'Gives a disabled user access again.',
  arguments: ['email'],
  options: { org: SCOPE },
  run: (context, { email }, { org }) => setAccess(context, { email, org, isEnabled: true }),
})

type Access = { email: string; org: string | undefined; isEnabled: boolean }

async function setAccess(context: Context, { email, org, isEnabled }: Access): Promise<void> {
  const users = await withServices(context, async (services) => {
    if (org !== undefined) {
      const target = await findTarget(services, org, email)
      await updateMemberAccess(services, target, isEnabled)
      return [target.user]
    }
    const found = await requireUsers(services.sql, email)
    for (const user of found) await updateAccountAccess(services, user, isEnabled)
    return found
  })
  const verb = isEnabled ? 'Enabled' : 'Disabled'
  const where = org === undefined ? '' : ` in ${org}`
  const accounts = users.map(({ id, email }) => ({ id, email, organization: org ?? null, disabled: !isEnabled }))
  const [json] = accounts.length === 1 ? accounts : [accounts]
  context.print({ json, text: users.map((user) => `${verb} ${user.email} (${user.id})${where}`).join('\n') })
}

export const userSetRole = defineCommand({
  name: 'user set-role',
  about: 'Gives a member of an organization another role. It takes effect at once.',
  arguments: ['email'],
  options: { org: ORG, role: ROLE },
  async run(context, { email }, { org, role }) {
    const { user } = await withServices(context, async (services) => {
      const target = await findTarget(services, org, email)
      await assignMemberRole(services, target, role)
      return target
    })
    const json = { id: user.id, email: user.email, organization: org, role }
    context.print({ json, text: `${user.email} has the role ${role} in ${org}` })
  },
})

export const userReset = defineCommand({
  name: 'user reset',
  about: 'Makes a link that replaces the password, TOTP and passkeys of a user. It can be used once, within an hour.',
  arguments: ['email'],
  options: {},
  async run(context, { email }) {
    const reset = await withServices(context, (services) => createResetLink(services, requireEmail(email)))
    const text = `${reset.link}\n\nThe link can be used once, until ${reset.expires_at.toISOString()}. Until then, nothing changes for the user.`
    context.print({ json: reset, text })
  },
})

/** That of the server with an address, and those that are private to organizations. */
async function requireUsers(db: Db, email: string) {
  const users = await listUsersByEmail(db, requireEmail(email))
  if (users.length === 0) throw createNotFoundError('user')
  return users
}

async function findTarget({ sql }: Services, slug: string, email: string) {
  const orgId = (await requireOrganization(sql, slug)).id
  const user = await findUserOfOrganization(sql, orgId, requireEmail(email))
  if (user === null) throw createNotFoundError('user')
  return { orgId, user, userId: user.id, author }
}

function toRow({ id, email, name, disabled_at, memberships }: ListedUser): string[] {
  const roles = memberships.map(
    ({ organization, role, disabled }) => `${organization}:${role}${disabled ? ' (disabled)' : ''}`,
  )
  return [email, name, disabled_at === null ? 'active' : 'disabled', roles.join(' ') || '-', id]
}
