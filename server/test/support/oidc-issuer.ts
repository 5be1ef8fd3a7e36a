import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import type { TrustProvider } from '../../src/access/oidc-trusts/token-job.ts'
import {
  createTrust as createStoredTrust,
  type ListedTrust,
} from '../../src/access/oidc-trusts/trusts/manage-trusts.ts'
import type { TrustRequest } from '../../src/access/oidc-trusts/trusts/trust-request.ts'
import { OPERATOR_GRANTOR } from '../../src/access/scopes.ts'
import { createLog } from '../../src/platform/log.ts'
import { GuardedFetch } from '../../src/platform/outbound/guarded-fetch.ts'
import { listConnectedAt } from '../../src/repositories/followed-repository.store.ts'
import type { TestApi } from './api.ts'
import {
  azureClaims as azureDefaults,
  bitbucketClaims as bitbucketDefaults,
  githubClaims as githubDefaults,
  gitlabClaims as gitlabDefaults,
} from './oidc-claims.ts'

export type SigningKey = { alg: string; kid: string; privateKey: CryptoKey; publicJwk: JWK }

type SignOptions = {
  /** RS256, ES256 or PS256. The default is RS256. */
  alg?: string
  header?: Record<string, unknown>
  /** The default is the issuer's key of the algorithm. */
  key?: SigningKey
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** An OpenID Connect issuer on loopback, with one key for each algorithm. */
export type Issuer = {
  /** The issuer, without a slash at its end. */
  url: string
  /** The keys that the key set lists. Tests may change it. */
  keys: SigningKey[]
  /** Paths of the requests so far. */
  requests: string[]
  /** Replaces the answer to a path, such as `/keys`; null restores it. */
  answer(path: string, answer: Answer | null): void
  /** Signs claims. Adds `iss`; everything else comes from the caller. */
  sign(claims: Claims, options?: SignOptions): Promise<string>
  close(): Promise<void>
}

const KEY_SET_PATH = '/keys'
const DISCOVERY_PATH = '/.well-known/openid-configuration'

/**
 * The key pairs of issuers that are closed, because two of RSA take 0.1 s of CPU. Issuers that are
 * open at the same time have different ones.
 */
const spareKeys: SigningKey[][] = []

/** Starts an issuer. `path` becomes a part of the issuer, as on GitHub Enterprise Server. */
export async function startIssuer({ path = '' }: { path?: string } = {}): Promise<Issuer> {
  const own = spareKeys.pop() ?? (await Promise.all(['RS256', 'ES256', 'PS256'].map((alg) => newSigningKey(alg))))
  const keys = own.map(rename)
  const [requests, answers]: [string[], Map<string, Answer>] = [[], new Map()]
  const server = createServer((request, response) => {
    const asked = request.url ?? ''
    requests.push(asked)
    const answer = answers.get(asked)
    if (answer) return void answer(request, response)
    if (asked === path + DISCOVERY_PATH)
      return sendJson(response, { issuer: issuer.url, jwks_uri: origin + KEY_SET_PATH })
    if (asked === KEY_SET_PATH) return sendJson(response, { keys: issuer.keys.map(({ publicJwk }) => publicJwk) })
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: Issuer = {
    url: origin + path,
    keys,
    requests,
    answer: (asked, answer) => void (answer ? answers.set(asked, answer) : answers.delete(asked)),
    sign: (claims, options) => sign({ iss: origin + path, ...claims }, issuer.keys, options),
    close: () => {
      if (server.listening) spareKeys.push(own)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
  return issuer
}

let made = 0

const newKeyId = () => `key-${++made}`

function rename(key: SigningKey): SigningKey {
  const kid = newKeyId()
  return { ...key, kid, publicJwk: { ...key.publicJwk, kid } }
}

export async function newSigningKey(alg = 'RS256', fields: { kid?: string } = {}): Promise<SigningKey> {
  const kid = fields.kid ?? newKeyId()
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), alg, kid, use: 'sig' } }
}

function sign(claims: Claims, keys: SigningKey[], { alg = 'RS256', header, key }: SignOptions = {}): Promise<string> {
  const chosen = key ?? keys.find((known) => known.alg === alg)
  if (!chosen) throw new Error(`The issuer has no key for ${alg}`)
  const protectedHeader = { alg, kid: chosen.kid, typ: 'JWT', ...header } as JWTHeaderParameters
  return new SignJWT({ ...claims }).setProtectedHeader(protectedHeader).sign(chosen.privateKey)
}

function sendJson(response: ServerResponse, document: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
}

/** What the operator agrees on with every organization of a test. */
export const JOB_AUDIENCE = 'jobs.shiplock.test'

/** Claim sets with the audience and the times of a server under test. */
export function claimsFor(api: TestApi, overrides: Claims = {}): Claims {
  const now = Math.floor(api.clock.now().getTime() / 1000)
  return { aud: JOB_AUDIENCE, iat: now, nbf: now, exp: now + 300, ...overrides }
}

export function githubClaims(api: TestApi, overrides: Claims = {}): Claims {
  return claimsFor(api, { ...githubDefaults(), ...overrides })
}

export function gitlabClaims(api: TestApi, overrides: Claims = {}): Claims {
  return claimsFor(api, { ...gitlabDefaults(), ...overrides })
}

export function bitbucketClaims(api: TestApi, overrides: Claims = {}): Claims {
  return claimsFor(api, { ...bitbucketDefaults(), ...overrides })
}

export function azureClaims(api: TestApi, overrides: Claims = {}): Claims {
  return claimsFor(api, { ...azureDefaults(), ...overrides })
}

/** A fetcher that reads issuers on loopback, for those who have no services. */
export function loopbackFetch(): GuardedFetch {
  return new GuardedFetch({
    allowedNetworks: ['127.0.0.0/8'],
    baseUrl: 'http://127.0.0.1',
    listStoredNetworks: async () => [],
    log: createLog('error'),
  })
}

/** What the claim sets above satisfy. */
const CONDITIONS: Record<TrustProvider, TrustRequest['conditions']> = {
  github: { repository: 'acme/shop' },
  gitlab: { project_path: 'acme/shop' },
  bitbucket: { repositoryUuid: '{8864cd24-449d-4441-8862-cf4fe8ad6caa}' },
  azure: { rpo_id: '6f9c0ee2-3c35-4d7a-8f54-0a2f51d8c8b1' },
}

/** Creates a trust with both scopes: of GitHub's `acme/shop` unless the fields say otherwise. */
export function createTrust(
  api: TestApi,
  orgId: string,
  {
    lifetimeMs = null,
    ...fields
  }: Partial<TrustRequest> & Pick<TrustRequest, 'issuer'> & { lifetimeMs?: number | null },
): Promise<ListedTrust> {
  const provider = fields.provider ?? 'github'
  const needs = { ...api.services, connectedRepositories: listConnectedAt }
  return createStoredTrust(needs, orgId, OPERATOR_GRANTOR, {
    name: 'test trust',
    audience: JOB_AUDIENCE,
    provider,
    conditions: CONDITIONS[provider],
    scopes: ['write:ci', 'write:security-findings'],
    trusted_events: [],
    self_hosted: false,
    speaks_for: [],
    as: 'uploaded',
    expiresAt: lifetimeMs === null ? null : new Date(api.clock.now().getTime() + lifetimeMs),
    ...fields,
  })
}
