import type { CodeHost, HostAction, HostClient } from '../../src/codehosts/code-host.ts'

/** What a test lets the host answer. A method that is not given fails the test that needs it. */
export type FakeAnswers = Partial<HostClient>

/**
 * A code host without a network, for tests of what slices do with its answers. `acted` holds the
 * actions that were carried out. `answers` can be changed while the test runs.
 */
export function fakeCodeHost(answers: FakeAnswers = {}) {
  const acted: HostAction[] = []
  const own: FakeAnswers = { act: async (action) => void acted.push(action) }
  const client = new Proxy({} as HostClient, {
    get: (_, name: keyof HostClient) => {
      // A client that a function returns is awaited, which asks whether it is a promise.
      if ((name as string) === 'then') return undefined
      const method = answers[name] ?? own[name]
      if (method === undefined) throw new Error(`The test gives no answer to ${name}`)
      return method
    },
  })
  const codeHost = { host: async () => 'github.com', open: () => client } as unknown as CodeHost
  return { codeHosts: new Map([['github', codeHost]]), answers, acted }
}
