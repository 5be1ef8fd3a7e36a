import { findOrganization } from '../../organizations/organization.store.ts'
import { openSealedText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import { findStoredProvider } from './provider.store.ts'
import type { Provider } from './provider.ts'

type Needs = Pick<Services, 'sql' | 'config' | 'sealingKey'>

/** The provider of an organization. */
export async function findOwnProvider({ sql, sealingKey }: Needs, orgId: string): Promise<Provider | null> {
  const stored = await findStoredProvider(sql, orgId)
  if (stored === null) return null
  const { sealed_client_secret, ...provider } = stored
  const client_secret = openSealedText(sealingKey, formatSecretLabel(orgId), sealed_client_secret)
  return { ...provider, client_secret, joined_org_id: orgId }
}

/** The provider of the server, from the environment. */
export async function findServerProvider({ sql, config }: Needs): Promise<Provider | null> {
  if (config.sso === null) return null
  const { organization, ...provider } = config.sso
  const joined = await findOrganization(sql, organization)
  return { ...provider, org_id: null, joined_org_id: joined?.id ?? null }
}

/** The provider that the users of an organization use: its own, or that of the server. */
export async function findProvider(needs: Needs, slug: string | null): Promise<Provider | null> {
  const organization = slug === null ? null : await findOrganization(needs.sql, slug)
  const own = organization === null ? null : await findOwnProvider(needs, organization.id)
  return own ?? findServerProvider(needs)
}

/** Binds a sealed client secret to its organization. */
export function formatSecretLabel(orgId: string): string {
  return `single sign-on of ${orgId}`
}
