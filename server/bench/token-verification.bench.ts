import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { createTrust } from '../src/access/oidc-trusts/trusts/manage-trusts.ts'
import { TokenVerifier } from '../src/access/oidc-trusts/trusts/token-verifier.ts'
import { OPERATOR_GRANTOR } from '../src/access/scopes.ts'
import { systemClock } from '../src/platform/clock.ts'
import { createLog } from '../src/platform/log.ts'
import { listConnectedAt } from '../src/repositories/followed-repository.store.ts'
import { githubClaims } from '../test/support/oidc-claims.ts'
import { type Issuer, loopbackFetch, startIssuer } from '../test/support/oidc-issuer.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 7
const TOKENS = 2000
const WARM_UP = 500
const TRUSTS = 100
const AUDIENCE = 'jobs.shiplock.example'
const config = { baseUrl: 'https://shiplock.example' }

export const tokenVerification: Benchmark<Setting> = {
  name: 'token verification',
  about: `CPU time of a new RS256 token of a CI job, with cached keys and ${TRUSTS} trusts, beside crypto.verify`,
  unit: 'ms',
  bar: { of: 'ours', atMost: 0.15 },
  async measure(setting) {
    const issuer = await startIssuer()
    try {
      const needs = { sql: setting.sql, clock: systemClock, log: createLog('error'), config, outbound: loopbackFetch() }
      await createTrusts(setting, issuer)
      const verifier = new TokenVerifier(needs)
      const tokens = await signTokens(issuer)
      const key = createPublicKey({ key: issuer.keys[0]?.publicJwk as never, format: 'jwk' })
      for (const token of tokens.slice(0, WARM_UP)) await verifier.verify(token)
      return await interleave(
        ROUNDS,
        () => cpuMsOf(tokens, (token) => verifier.verify(token)),
        () => cpuMsOf(tokens, async (token) => verifyBare(token, key)),
      )
    } finally {
      await issuer.close()
    }
  },
}

async function createTrusts({ sql, ours }: Setting, { url }: Issuer): Promise<void> {
  const needs = { sql, clock: systemClock, config, outbound: loopbackFetch(), connectedRepositories: listConnectedAt }
  const request = {
    issuer: url,
    audience: AUDIENCE,
    provider: 'github',
    scopes: ['write:ci'],
    trusted_events: [] as string[],
    self_hosted: false,
    speaks_for: [] as string[],
    as: 'uploaded' as const,
    expiresAt: null,
  } as const
  for (let nth = 0; nth < TRUSTS; nth += 1) {
    const repository = nth === 0 ? 'acme/shop' : `acme/other-${nth}`
    await createTrust(needs, ours.orgId, OPERATOR_GRANTOR, { ...request, name: repository, conditions: { repository } })
  }
}

function signTokens(issuer: Issuer): Promise<string[]> {
  const now = Math.floor(systemClock.now().getTime() / 1000)
  const times = { iat: now, nbf: now, exp: now + 3600 }
  return Promise.all(
    Array.from({ length: TOKENS }, (_, nth) =>
      issuer.sign({ ...githubClaims(), ...times, aud: AUDIENCE, jti: `token-${nth}` }),
    ),
  )
}

/** Milliseconds of CPU time for each token, in all threads of the process. */
async function cpuMsOf(tokens: readonly string[], check: (token: string) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (const token of tokens) await check(token)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / tokens.length
}

function verifyBare(token: string, key: KeyObject): void {
  const end = token.lastIndexOf('.')
  const signature = Buffer.from(token.slice(end + 1), 'base64url')
  if (!verify('RSA-SHA256', Buffer.from(token.slice(0, end)), key, signature))
    throw new Error('The token is not valid.')
}
