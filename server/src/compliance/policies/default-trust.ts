import { type Author, insertAuditEntry } from '../../audit/audit.store.ts'
import { type DefaultTrust, lockDefaultTrust, updateDefaultTrust } from '../../organizations/organization.store.ts'
import { defineEvent, publish } from '../../platform/queue/event.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'

/**
 * States whose evidence the rules of an organization admit that name no trust (trust §2). Waiting
 * deployments are evaluated again. Who lets API keys in again is remembered, also if that is taken
 * back, because they do not approve what it let through, and it counts after 24 hours (trust §5).
 */
export async function assignDefaultTrust(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  author: Author,
  trust: DefaultTrust,
): Promise<void> {
  const now = clock.now()
  await sql.begin(async (tx) => {
    const before = await lockDefaultTrust(tx, orgId)
    if (before === trust) return
    const { principal } = author
    const by = principal.type === 'user' ? principal.id : null
    await updateDefaultTrust(tx, orgId, { trust, loosened: before === 'verified' ? { at: now, by } : null })
    const object = { type: 'organization', id: orgId }
    const details = { default_trust: trust, before }
    await insertAuditEntry(tx, orgId, { ...author, action: 'organization.update', object, details }, now)
    await publish(tx, defaultTrustChanged, { org_id: orgId }, { actor: principal })
  })
}

/** Published when an organization has changed what its rules admit by default. */
export const defaultTrustChanged = defineEvent('compliance.default-trust.changed', {
  payload: definePayload({ org_id: text }),
  subject: ({ org_id }) => ({ type: 'organization', id: org_id }),
  updates: () => [update('organization'), update('policy')],
})
