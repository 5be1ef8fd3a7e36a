import { once } from 'node:events'
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
  /** Resolves when the next token has been issued. */
  issued(): Promise<void>
  close(): Promise<void>
}

/**
 * Answers as GitHub does (`value`), as Azure DevOps does (`oidcToken`), and with `/text` in the path
 * with the token alone. `claims` are those of the job. `toAudience` is what a file names where it is
 * not that of its page, for example because several organizations share the server.
 */
export async function startTokenEndpoint(
  claims: () => Claims,
  clock = { now: () => new Date() },
  toAudience = (asked: string) => asked,
): Promise<TokenEndpoint> {
  const issuer = await startIssuer()
  const issue = (asked: string) => {
    const aud = toAudience(asked)
    const now = Math.floor(clock.now().getTime() / 1000)
    return issuer.sign({ aud, iat: now, nbf: now, exp: now + LIFETIME_SECONDS, ...claims() })
  }
  const server = createServer(async ({ headers, url = '' }, response) => {
    if (headers.authorization?.toLowerCase() !== `bearer ${SECRET}`) return response.writeHead(401).end()
    const { pathname, searchParams } = new URL(url, issuer.url)
    const token = await issue(searchParams.get('audience') ?? AZURE_AUDIENCE)
    server.emit('issued')
    response.end(pathname === '/text' ? token : JSON.stringify({ count: 1, value: token, oidcToken: token }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    issuer,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secret: SECRET,
    issue,
    issued: async () => void (await once(server, 'issued')),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await issuer.close()
    },
  }
}
