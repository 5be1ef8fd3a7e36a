import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { Answer, TestApi } from './api.ts'

export const CLIENT = { client_id: 'shiplock', client_secret: 'a secret of the client' }

type Claims = Record<string, unknown>

/** A real OpenID provider on loopback, where `person` signs in without being asked. */
export type OpenIdProvider = {
  issuer: string
  /** The claims of people by their subject. Tests may change them. */
  people: Record<string, Claims>
  /** The subject of whoever uses the browser. */
  person: string
  /** Accepts the callback of a server. */
  register(api: Pick<TestApi, 'url'>): void
  /** Plays the browser at the provider, and returns the address of the callback. */
  visit(address: string): Promise<URL>
  close(): Promise<void>
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const handler: { current: ((request: IncomingMessage, response: ServerResponse) => unknown) | null } = {
    current: null,
  }
  const server = createServer((request, response) => handler.current?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const made: OpenIdProvider = {
    issuer,
    people: {},
    person: '',
    register({ url }) {
      const provider = createProvider(made, `${url}/app/api/sso/callback`)
      const callback = provider.callback()
      handler.current = (request, response) =>
        request.url?.startsWith('/interaction/')
          ? provider.interactionFinished(request, response, { login: { accountId: made.person } })
          : callback(request, response)
    },
    visit: (address) => followTo(address, issuer),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    },
  }
  return made
}

function createProvider(made: OpenIdProvider, redirectUri: string): Provider {
  return new Provider(made.issuer, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    cookies: { keys: ['a key for cookies'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ sub, ...made.people[sub] }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
}

async function followTo(address: string, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = new URL(address)
  while (next.origin === issuer) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${next} responded with ${response.status}: ${await response.text()}`)
    next = new URL(location, next)
  }
  return next
}

/** The cookies that a response sets, as the browser sends them. */
export function cookiesOf({ headers }: Answer): string {
  return headers
    .getSetCookie()
    .map((header) => header.split(';')[0])
    .join('; ')
}

/** A request as a browser's address bar sends it. */
export async function open(api: TestApi, path: string, cookie = ''): Promise<Answer> {
  const response = await fetch(new URL(path, api.url), { redirect: 'manual', headers: { cookie } })
  const text = await response.text()
  const body = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, body }
}
