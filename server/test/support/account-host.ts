import { createHash, timingSafeEqual } from 'node:crypto'
import type { CodeHost, HostClient, HostCredentials, HostInstallation } from '../../src/codehosts/code-host.ts'
import type { ObjectChange } from '../../src/codehosts/host-event.ts'
import { invalidCredentials } from '../../src/errors/codehosts.ts'

/** What a test lets the host answer. A method that is not given fails the test that needs it. */
export type AccountAnswers = Partial<HostClient>

export const TOKEN = { type: 'token', token: 'a good token' } as const satisfies HostCredentials

/**
 * A code host without a network whose accounts are connected with credentials. Its deliveries prove
 * themselves with the secret in `x-token`; their body is the list of changes. `webhooks` holds the
 * addresses that our webhooks have.
 */
export function accountHost(answers: AccountAnswers = {}) {
  const accounts = new Map<string, HostInstallation>()
  const accepted = new Set<string>([TOKEN.token])
  const webhooks = new Map<string, string>()
  const own: AccountAnswers = {
    ensureWebhook: async (_, { address, secret }) => void webhooks.set(address, secret),
    removeWebhooks: async (address) => void webhooks.delete(address),
  }
  const client = new Proxy({} as HostClient, {
    get: (_, name: keyof HostClient) => {
      if ((name as string) === 'then') return undefined
      const method = answers[name] ?? own[name]
      if (method === undefined) throw new Error(`The test gives no answer to ${name}`)
      return method
    },
  })
  const codeHost: CodeHost = {
    connects: 'account',
    host: async () => 'gitlab.com',
    open: () => client,
    redeliveries: null,
    readInstallation: async (name, credentials) => {
      if (credentials?.type !== 'token' || !accepted.has(credentials.token))
        throw invalidCredentials('gitlab.com does not accept the credentials')
      return [...accounts.values()].find(({ id, account }) => id === name || account.login === name) ?? null
    },
    webhooks: {
      hasSignature: (headers, target) => isSame(`${headers['x-token']}`, target?.secret ?? ''),
      verify: async () => true,
      readHead: (body, headers, target) => ({
        id: `${headers['x-delivery']}`,
        event: 'change',
        action: null,
        installation_id: target?.installation_id ?? null,
        lane: 'one',
        payload: body.toString(),
      }),
      translate: (_, payload) => ({ type: 'changes', changes: payload as ObjectChange[] }),
    },
  }
  return { codeHosts: new Map([['gitlab', codeHost]]), accounts, accepted, webhooks, answers }
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
