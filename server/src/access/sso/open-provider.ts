import { hash } from 'node:crypto'
import type { Configuration, ServerMetadata } from 'openid-client'
import { identityProviderUnavailable } from '../../errors/sign-in.ts'
import { findOrganization } from '../../organizations/organization.store.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { openSealedText } from '../../platform/crypto/sealed-text.ts'
import type { Services } from '../../services.ts'
import { isKeySetUrl } from '../oidc-trusts/issuer.ts'
import type { Provider } from './provider.ts'
import { findStoredProvider } from './single-sign-on.store.ts'

const TIMEOUT_SECONDS = 5
const RESPONSE_BYTES_MAX = 2 ** 20
const KEPT_MS = 10 * MINUTE_MS
const KEPT_MAX = 1000

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
export async function openIssuer(services: Pick<Services, 'clock' | 'log'>, provider: Provider): Promise<OpenIssuer> {
  const client = await import('openid-client')
  const metadata = await readMetadata(services, client, provider)
  const { token_endpoint_auth_methods_supported: supported = [METHODS[0]] } = metadata
  const methods = METHODS.filter((method) => supported.includes(method))
  return { client, methods, configure: (method) => configure(client, metadata, { provider, method }) }
}

async function readMetadata(
  { clock, log }: Pick<Services, 'clock' | 'log'>,
  client: Client,
  { issuer, client_id }: Provider,
): Promise<ServerMetadata> {
  const [key, now] = [hash('sha256', JSON.stringify([issuer, client_id])), clock.now().getTime()]
  const kept = known.get(key)
  if (kept && Math.abs(now - kept.readAt) < KEPT_MS) return kept.metadata
  try {
    const options = { ...optionsFor(client, issuer), timeout: TIMEOUT_SECONDS }
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
  client: Client,
  metadata: ServerMetadata,
  { provider, method }: { provider: Provider; method: ClientMethod },
): Configuration {
  const authenticate = method === 'client_secret_basic' ? client.ClientSecretBasic : client.ClientSecretPost
  const { client_id, client_secret, issuer } = provider
  const configuration = new client.Configuration(metadata, client_id, undefined, authenticate(client_secret))
  const options = optionsFor(client, issuer)
  configuration[client.customFetch] = options[client.customFetch]
  configuration.timeout = TIMEOUT_SECONDS
  for (const apply of options.execute) apply(configuration)
  // The signature of the ID token is verified even though it comes over a trusted connection.
  client.enableNonRepudiationChecks(configuration)
  return configuration
}

function optionsFor(client: Client, issuer: string) {
  const isOnLoopback = new URL(issuer).protocol === 'http:'
  return {
    [client.customFetch]: (url: string, options: object) => fetchFrom(issuer, url, options),
    execute: isOnLoopback ? [client.allowInsecureRequests] : [],
  }
}

/**
 * Sends a request of the protocol: to https addresses, or to this machine if the issuer is on it.
 * Redirects are not followed, and long responses are refused.
 */
async function fetchFrom(issuer: string, url: string, options: RequestInit): Promise<Response> {
  if (!isKeySetUrl(url, issuer)) throw new Error(`${url} is no https address.`)
  const response = await fetch(url, { ...options, redirect: 'manual' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > RESPONSE_BYTES_MAX) throw new Error(`${url} has more than ${RESPONSE_BYTES_MAX} bytes.`)
    chunks.push(chunk)
  }
  const body = [204, 205, 304].includes(response.status) ? null : Buffer.concat(chunks)
  return new Response(body, { status: response.status, headers: response.headers })
}

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
