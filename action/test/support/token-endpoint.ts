import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Issuer, startIssuer } from '../../../server/test/support/oidc-issuer.ts'

type Claims = Record<string, unknown>

const SECRET = 'secret-of-the-job'
const AZURE_AUDIENCE = 'api://AzureADTokenExchange'
const LIFETIME_SECONDS = 300

/** An issuer on loopback, and the endpoint where jobs request tokens with a secret of theirs. */
export type TokenEndpoint = {
  issuer: Issuer
  url: string
  secret: string
  issue(audience: string): Promise<string>
  close(): Promise<void>
}

/**
 * Answers as GitHub does (`value`), as Azure DevOps does (`oidcToken`), and with `/text` in the path
 * with the token alone. `claims` are those of the job.
 */
export async function startTokenEndpoint(claims: Claims): Promise<TokenEndpoint> {
  const issuer = await startIssuer()
  const issue = (aud: string) => {
    const now = Math.floor(Date.now() / 1000)
    return issuer.sign({ ...claims, aud, iat: now, nbf: now, exp: now + LIFETIME_SECONDS })
  }
  const server = createServer(async ({ headers, url = '' }, response) => {
    if (headers.authorization?.toLowerCase() !== `bearer ${SECRET}`) return response.writeHead(401).end()
    const { pathname, searchParams } = new URL(url, issuer.url)
    const token = await issue(searchParams.get('audience') ?? AZURE_AUDIENCE)
    response.end(pathname === '/text' ? token : JSON.stringify({ count: 1, value: token, oidcToken: token }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    issuer,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secret: SECRET,
    issue,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await issuer.close()
    },
  }
}
