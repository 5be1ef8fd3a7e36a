import { insertOrganization, listOrganizations, type Organization } from '../../organizations/organization.store.ts'
import { DEFAULT_PLAN } from '../../organizations/plan.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { SCOPES } from '../scopes.ts'
import { createApiKey, type NewKey } from './manage-access.ts'

const SLUG = 'default'

export type FirstOrganization = { organization: Organization; key: NewKey }

/**
 * Creates the organization `default` with one key that has all scopes. Returns null if an
 * organization exists already, or if another server creates it at the same time: the unique slug
 * lets only one succeed.
 */
export async function createFirstOrganization(services: Services): Promise<FirstOrganization | null> {
  const { sql, clock, config } = services
  const now = clock.now()
  return sql.begin(async (tx) => {
    if ((await listOrganizations(tx)).length > 0) return null
    const wanted = { id: newUuid(now), slug: SLUG, name: SLUG, plan: DEFAULT_PLAN }
    const organization = await insertOrganization(tx, wanted, now)
    if (!organization) return null
    const request = {
      name: 'first key',
      scopes: SCOPES,
      environment: config.environment,
      createdBy: 'start',
      lifetimeMs: null,
    }
    return { organization, key: await createApiKey(tx, organization.id, request, now) }
  })
}
