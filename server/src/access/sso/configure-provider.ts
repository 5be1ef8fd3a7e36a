import { insertAuditEntry } from '../../audit/audit.store.ts'
import { sealText } from '../../platform/crypto/sealed-text.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type Author, lockMembers, requireCovers } from '../members/author.ts'
import { isIssuer } from '../oidc-trusts/issuer.ts'
import { findRole } from '../role.store.ts'
import type { Permission } from '../role.ts'
import { updateSessionEndsOfProvider } from '../sign-in/session.store.ts'
import { formatSecretLabel } from './open-provider.ts'
import type { AdmissionRules } from './provider.ts'
import { deleteProvider, findStoredProvider, type StoredProvider, upsertProvider } from './single-sign-on.store.ts'

type Needs = Pick<Services, 'sql' | 'clock' | 'sealingKey' | 'outbound'>
type Writer = { orgId: string; author: Author }

type WantedProvider = AdmissionRules & {
  issuer: string
  client_id: string
  /** Absent: the stored secret stays. */
  client_secret?: string | undefined
}

/**
 * Sets the identity provider of an organization. Throws 400, and 403 `insufficient_permission` for
 * a role with a permission that the author lacks.
 */
export async function saveProvider(needs: Needs, writer: Writer, wanted: WantedProvider) {
  const { sql, clock, sealingKey, outbound } = needs
  const { orgId, author } = writer
  const isPlain = URL.parse(wanted.issuer)?.protocol === 'http:'
  if (!isIssuer(wanted.issuer) || (isPlain && !(await outbound.isInside(wanted.issuer))))
    throw createInvalidFieldError(
      '/body/issuer',
      'must be an https URL without query and fragment; http is for SHIPLOCK_ALLOWED_NETWORKS',
    )
  await sql.begin(async (tx) => {
    const held = await lockMembers(tx, orgId, author)
    await requireRoles(tx, orgId, held, wanted)
    const now = clock.now()
    const present = await findStoredProvider(tx, orgId)
    const { client_secret, ...provider } = wanted
    const sealed_client_secret = client_secret
      ? sealText(sealingKey, formatSecretLabel(orgId), client_secret)
      : keptSecret(present, wanted)
    const isOther = present?.issuer !== wanted.issuer || present.client_id !== wanted.client_id
    if (isOther) await updateSessionEndsOfProvider(tx, orgId, now)
    await upsertProvider(tx, { ...provider, org_id: orgId, sealed_client_secret, updated_at: now })
    const details = { ...provider, client_secret: client_secret ? 'replaced' : 'kept' }
    await record(tx, writer, { action: 'single_sign_on.configure', details }, now)
  })
}

/** The secret of one issuer is never sent to another one. */
function keptSecret(present: StoredProvider | null, { issuer }: WantedProvider): string {
  if (present?.issuer === issuer) return present.sealed_client_secret
  throw createInvalidFieldError('/body/client_secret', 'is required for a new issuer')
}

async function requireRoles(tx: Tx, orgId: string, held: readonly Permission[], rules: AdmissionRules): Promise<void> {
  const named = rules.role_map.map(({ role }, at) => ({ path: `/body/role_map/${at}/role`, role }))
  if (rules.default_role !== null) named.push({ path: '/body/default_role', role: rules.default_role })
  for (const { path, role } of named) {
    const found = await findRole(tx, orgId, role)
    if (found === null) throw createInvalidFieldError(path, 'is neither a built-in role nor the id of a custom role')
    requireCovers(held, found.permissions)
  }
  if (rules.role_map.length > 0 && rules.role_claim === null)
    throw createInvalidFieldError('/body/role_claim', 'is required with role_map')
}

/**
 * Removes the identity provider of an organization, and ends the sessions that it started. Throws
 * 404.
 */
export async function removeProvider({ sql, clock }: Pick<Needs, 'sql' | 'clock'>, writer: Writer): Promise<void> {
  await sql.begin(async (tx) => {
    await lockMembers(tx, writer.orgId, writer.author)
    const now = clock.now()
    if (!(await deleteProvider(tx, writer.orgId))) throw createNotFoundError('single sign-on')
    await updateSessionEndsOfProvider(tx, writer.orgId, now)
    await record(tx, writer, { action: 'single_sign_on.remove', details: {} }, now)
  })
}

type Recorded = { action: string; details: Record<string, unknown> }

async function record(tx: Tx, { orgId, author }: Writer, { action, details }: Recorded, now: Date): Promise<void> {
  const object = { type: 'organization', id: orgId }
  await insertAuditEntry(tx, orgId, { principal: author.principal, action, object, reason: null, details }, now)
}
