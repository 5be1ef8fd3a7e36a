import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import type { TrustProvider } from '../../src/access/oidc-trusts/token-job.ts'
import type { TrustRequest } from '../../src/access/oidc-trusts/trusts/trust-request.ts'
import type { Answer, Caller, TestApi } from './api.ts'
import { azureClaims, bitbucketClaims, createTrust, githubClaims, gitlabClaims, startIssuer } from './oidc-issuer.ts'

const CLAIMS = { github: githubClaims, gitlab: gitlabClaims, bitbucket: bitbucketClaims, azure: azureClaims }

/** An organization with an API key, and with a trust of the repository `acme/shop`. */
export type TokenCaller = Caller & {
  issuerUrl: string
  trustId: string
  /** Signs the claims of a job, with these in place of the usual ones. */
  sign(claims?: Claims): Promise<string>
  /** Sends a request with the token of a job. */
  send(method: string, path: string, body: unknown, claims?: Claims): Promise<Answer>
  close(): Promise<void>
}

type TokenCallerOptions = {
  provider?: TrustProvider
  /** The path of the issuer. GitHub Enterprise Server has `/_services/token`. */
  path?: string
  plan?: string
  /** Fields of the trust in place of the usual ones. */
  trust?: Partial<TrustRequest>
}

/** Starts an issuer that one organization trusts. */
export async function startTokenCaller(api: TestApi, options: TokenCallerOptions = {}): Promise<TokenCaller> {
  const { provider = 'github', path = '', trust, ...callerOptions } = options
  const caller = await api.caller(callerOptions)
  const issuer = await startIssuer({ path })
  const { id } = await createTrust(api, caller.orgId, { issuer: issuer.url, provider, ...trust })
  const sign = (claims: Claims = {}) => issuer.sign(CLAIMS[provider](api, claims))
  return {
    ...caller,
    issuerUrl: issuer.url,
    trustId: id,
    sign,
    send: async (method, path, body, claims) => api.request(method, path, { key: await sign(claims), body }),
    close: () => issuer.close(),
  }
}

let made = 1000

/** Claims of a run that no other test has. */
export function newRunClaims(claims: Claims = {}): Claims & { run_id: string } {
  made += 1
  return { run_id: String(made), ...claims }
}

/** The body of createCiRun that a GitHub Actions job sends for its own run. */
export function ownRun(claims: Claims & { run_id: string }, fields: Record<string, unknown> = {}) {
  return {
    ci_system: 'github-actions',
    external_run_id: claims.run_id,
    repository: 'github.com/acme/shop',
    commit_sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567',
    pipeline_name: 'build',
    ...fields,
  }
}
