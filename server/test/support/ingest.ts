import { randomUUID } from 'node:crypto'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import { TRUST_PROVIDERS, type TrustProvider } from '../../src/access/oidc-trusts/token-job.ts'
import { type Caller, startTestApi, type TestApi } from './api.ts'
import { IngestClient } from './ingest-client.ts'
import {
  azureClaims,
  bitbucketClaims,
  createTrust,
  githubClaims,
  gitlabClaims,
  type Issuer,
  startIssuer,
} from './oidc-issuer.ts'

type TestApiOptions = Parameters<typeof startTestApi>[0]
type ClientOptions = { provider?: TrustProvider; claims?: Claims; pause?(ms: number): unknown }

/**
 * The API with an issuer, and an organization that trusts the jobs of each provider's test claims.
 */
export type IngestServer = {
  api: TestApi
  issuer: Issuer
  caller: Caller
  /** A token with the test claims of the provider. */
  sign(provider: TrustProvider, claims?: Claims): Promise<string>
  /** A client with a new token for each try. */
  client(options?: ClientOptions): IngestClient
  close(): Promise<void>
}

const CLAIMS = { github: githubClaims, gitlab: gitlabClaims, bitbucket: bitbucketClaims, azure: azureClaims }

export async function startIngestServer(options?: TestApiOptions): Promise<IngestServer> {
  const issuer = await startIssuer()
  const api = await startTestApi(options)
  const caller = await api.caller()
  for (const provider of TRUST_PROVIDERS) {
    await createTrust(api, caller.orgId, { issuer: issuer.url, provider, name: provider })
  }
  const sign = (provider: TrustProvider, claims: Claims = {}) => issuer.sign(CLAIMS[provider](api, claims))
  return {
    api,
    issuer,
    caller,
    sign,
    client({ provider = 'github', claims = {}, ...others } = {}) {
      const token = () => sign(provider, { jti: randomUUID(), ...claims })
      return new IngestClient({ url: api.url, provider, token, ...others })
    },
    async close() {
      await api.close()
      await issuer.close()
    },
  }
}
