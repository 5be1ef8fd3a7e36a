import type { CodeHost, HostAction, HostClient, HostRedeliveries } from '../../src/codehosts/code-host.ts'

/** What an App asks for by itself, not by one of its connections. */
type OfTheApp = 'readInstallation'

/** What a test lets the host answer. A method that is not given fails the test that needs it. */
export type FakeAnswers = Partial<HostClient & Pick<CodeHost, OfTheApp> & HostRedeliveries>

/** Whether they exist is asked for: by promises that resolve to the client, and for what few hosts have. */
const ASKED_FOR: ReadonlySet<string> = new Set(['then', 'readWorkflow'])

/**
 * A code host without a network, for tests of what slices do with its answers. `acted` holds the
 * actions that were carried out. `answers` can be changed while the test runs.
 */
export function fakeCodeHost(answers: FakeAnswers = {}) {
  const acted: HostAction[] = []
  // Runs that other events name are read; a host that does not know them says so.
  const own: FakeAnswers = { act: async (action) => void acted.push(action), readRun: async () => null }
  const client = new Proxy({} as HostClient & Pick<CodeHost, OfTheApp> & HostRedeliveries, {
    get: (_, name: keyof FakeAnswers) => {
      const method = answers[name] ?? own[name]
      if (ASKED_FOR.has(name)) return method
      if (method === undefined) throw new Error(`The test gives no answer to ${name}`)
      return method
    },
  })
  const codeHost = {
    host: async () => 'github.com',
    open: () => client,
    connects: 'app',
    readInstallation: (id: string) => client.readInstallation(id, null),
    redeliveries: {
      listFailed: (since: Date) => client.listFailed(since),
      repeat: (id: string) => client.repeat(id),
    },
  } as unknown as CodeHost
  return { codeHosts: new Map([['github', codeHost]]), answers, acted }
}
