import { after } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../server/test/support/api.ts'

/** A server with an organization, and the environment with which the program talks to it. */
export type TestServer = { api: TestApi; caller: Caller; env: Record<string, string> }

/** Starts a real server. It is stopped after the tests of this file. */
export async function startServer(options: { start?: string } = {}): Promise<TestServer> {
  const api = await startTestApi(options)
  after(() => api.close())
  const caller = await api.caller()
  return { api, caller, env: { SHIPLOCK_URL: api.url, SHIPLOCK_KEY: caller.key } }
}
