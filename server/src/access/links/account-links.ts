import { SYSTEM } from '../../audit/audit.store.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { COMMAND_LINE_AUTHOR } from '../members/author.ts'
import { findOrganizationWithoutAdmins, lockOrganization } from '../members/member.store.ts'
import { findUserByEmail } from '../user.store.ts'
import { insertLink, updateResetLinksClosed, updateSetupLinksClosed } from './link.store.ts'
import { buildLinkAddress, createLinkToken, hashLinkToken, LINK_MS, type LinkKind } from './link.ts'

type Needs = Pick<Services, 'sql' | 'clock' | 'config'>

/** A link of the operator, which is printed and not mailed. */
type PrintedLink = { link: string; expires_at: Date }

export type SetupLink = PrintedLink & { organization: string }

/**
 * Makes the link that makes the first Org admin; null if there is an Org admin. It replaces earlier
 * ones, whose tokens nobody can read again.
 */
export async function createSetupLink(services: Needs): Promise<SetupLink | null> {
  const { sql, clock } = services
  const organization = await findOrganizationWithoutAdmins(sql)
  if (organization === null) return null
  return sql.begin(async (tx) => {
    await lockOrganization(tx, organization.id)
    const now = clock.now()
    await updateSetupLinksClosed(tx, organization.id, now)
    const { token, link } = newLink('setup', now)
    const target = { org_id: organization.id, built_in_role: 'org_admin', user_id: null } as const
    await insertLink(tx, { ...link, ...target, created_by_name: SYSTEM.name })
    return { organization: organization.slug, ...printed(services, token, link) }
  })
}

/**
 * Makes a link with which a user sets new ways to sign in. The present ones work until the link is
 * used. Throws 404.
 */
export async function createResetLink(services: Needs, email: string): Promise<PrintedLink & { email: string }> {
  const { sql, clock } = services
  return sql.begin(async (tx) => {
    const user = await findUserByEmail(tx, email)
    if (user === null) throw createNotFoundError('user')
    const now = clock.now()
    await updateResetLinksClosed(tx, user.id, now)
    const { token, link } = newLink('reset', now)
    const target = { org_id: null, built_in_role: null, user_id: user.id }
    await insertLink(tx, { ...link, ...target, created_by_name: COMMAND_LINE_AUTHOR.principal.name })
    return { email, ...printed(services, token, link) }
  })
}

function newLink(kind: LinkKind, now: Date) {
  const token = createLinkToken()
  const link = {
    id: createUuid(now),
    kind,
    token_sha256: hashLinkToken(token),
    email: null,
    custom_role_id: null,
    created_by_user_id: null,
    created_at: now,
    expires_at: new Date(now.getTime() + LINK_MS[kind]),
  }
  return { token, link }
}

function printed({ config }: Needs, token: string, { expires_at }: { expires_at: Date }): PrintedLink {
  return { link: buildLinkAddress(config.baseUrl, token), expires_at }
}
