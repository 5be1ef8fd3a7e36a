import { hash } from 'node:crypto'
import type { Configuration, ServerMetadata } from 'openid-client'
import { identityProviderUnavailable } from '../../errors/sign-in.ts'
import { findOrganization } from '../../organizations/organization.store.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { openSealedText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import type { Provider } from './provider.ts'
import { findStoredProvider } from './single-sign-on.store.ts'

const TIMEOUT_SECONDS = 5
const LIMITS = { timeoutMs: TIMEOUT_SECONDS * 1000, bytesMax: 2 ** 20 }
const KEPT_MS = 10 * MINUTE_MS
const KEPT_MAX = 1000

type Needs = Pick<Services, 'clock' | 'log' | 'outbound'>
type Client = typeof import('openid-client')

/** The methods by which we authenticate, in the order in which they are tried. */
const METHODS = ['client_secret_basic', 'client_secret_post'] as const
type ClientMethod = (typeof METHODS)[number]

/** A provider whose discovery document was read. */
export type OpenIssuer = { client: Client; configure(method: ClientMethod): Configuration; methods: ClientMethod[] }

const known = new Map<string, { metadata: ServerMetadata; readAt: number }>()

/**
 * Reads the discovery document of a provider, and keeps it for 10 minutes. Throws 502
 * `identity_provider_unavailable`.
 */
export async function openIssuer(services: Needs, provider: Provider): Promise<OpenIssuer> {
  const client = await import('openid-client')
  const metadata = await readMetadata(services, client, provider)
  const { token_endpoint_auth_methods_supported: supported = [METHODS[0]] } = metadata
  const methods = METHODS.filter((method) => supported.includes(method))
  return { client, methods, configure: (method) => configure(services, client, metadata, { provider, method }) }
}

async function readMetadata(services: Needs, client: Client, provider: Provider): Promise<ServerMetadata> {
  const { clock, log } = services
  const { issuer, client_id, org_id } = provider
  // What the server may read does not tell an organization whether it could.
  const key = hash('sha256', JSON.stringify([issuer, client_id, org_id === null]))
  const now = clock.now().getTime()
  const kept = known.get(key)
  if (kept && Math.abs(now - kept.readAt) < KEPT_MS) return kept.metadata
  try {
    const options = { ...optionsFor(services, client, provider), timeout: TIMEOUT_SECONDS }
    const found = await client.discovery(new URL(issuer), client_id, undefined, undefined, options)
    if (known.size >= KEPT_MAX) known.clear()
    known.set(key, { metadata: found.serverMetadata(), readAt: now })
    return found.serverMetadata()
  } catch (err) {
    log.warn({ issuer, err }, 'Could not read the description of an identity provider')
    throw identityProviderUnavailable()
  }
}

function configure(
  services: Needs,
  client: Client,
  metadata: ServerMetadata,
  { provider, method }: { provider: Provider; method: ClientMethod },
): Configuration {
  const authenticate = method === 'client_secret_basic' ? client.ClientSecretBasic : client.ClientSecretPost
  const { client_id, client_secret } = provider
  const configuration = new client.Configuration(metadata, client_id, undefined, authenticate(client_secret))
  const options = optionsFor(services, client, provider)
  configuration[client.customFetch] = options[client.customFetch]
  configuration.timeout = TIMEOUT_SECONDS
  for (const apply of options.execute) apply(configuration)
  // The signature of the ID token is verified even though it comes over a trusted connection.
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

function optionsFor({ outbound }: Needs, client: Client, { issuer, org_id }: Provider) {
  // The provider of the server is in the settings, and not chosen by a tenant.
  const limits = { ...LIMITS, isOperators: org_id === null }
  return {
    [client.customFetch]: (url: string, options: object) => outbound.fetch(url, options, limits),
    execute: new URL(issuer).protocol === 'http:' ? [client.allowInsecureRequests] : [],
  }
}

type Stores = Pick<Services, 'sql' | 'config' | 'sealingKey'>

/** The provider of an organization. */
export async function findOwnProvider({ sql, sealingKey }: Stores, orgId: string): Promise<Provider | null> {
  const stored = await findStoredProvider(sql, orgId)
  if (stored === null) return null
  const { sealed_client_secret, ...provider } = stored
  const client_secret = openSealedText(sealingKey, formatSecretLabel(orgId), sealed_client_secret)
  return { ...provider, client_secret, joined_org_id: orgId }
}

/** The provider of the server, from the environment. */
export async function findServerProvider({ sql, config }: Stores): Promise<Provider | null> {
  if (config.sso === null) return null
  const { organization, ...provider } = config.sso
  const joined = await findOrganization(sql, organization)
  return { ...provider, org_id: null, joined_org_id: joined?.id ?? null }
}

/** The provider that the users of an organization use: its own, or that of the server. */
export async function findProvider(needs: Stores, slug: string | null): Promise<Provider | null> {
  const organization = slug === null ? null : await findOrganization(needs.sql, slug)
  const own = organization === null ? null : await findOwnProvider(needs, organization.id)
  return own ?? findServerProvider(needs)
}

/** Binds a sealed client secret to its organization. */
export function formatSecretLabel(orgId: string): string {
  return `single sign-on of ${orgId}`
}
