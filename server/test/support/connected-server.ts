import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type FakeGitHub, startFakeGitHub } from './github/fake-github.ts'
import type { Json } from './json.ts'
import { type Running, runProgram, startProgram } from './program.ts'

const POLL_MS = 50
const WAIT_MS_MAX = 60_000

/** The real program, connected to a fake GitHub. */
export type ConnectedServer = {
  fake: FakeGitHub
  url: string
  dataDir: string
  /** Answers the `data` of a GET. */
  get(path: string): Promise<Json>
  post(path: string, body: object): Promise<{ status: number; body: Json }>
  /** Runs a command and answers what it printed. */
  command(...args: string[]): Promise<Json>
  /** Polls until the value fits. The error of a time-out shows the last value. */
  until<Value>(read: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value>
  restart(signal?: NodeJS.Signals, env?: Record<string, string>): Promise<void>
  close(): Promise<void>
}

/** Starts the program on a database of its own. Nothing is connected yet. */
export async function startConnectedServer(env: Record<string, string> = {}): Promise<ConnectedServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-github-'))
  const fake = await startFakeGitHub()
  const settings = () => ({ ...githubSettings(fake), ...env })
  let running = await startProgram(dataDir, 'start', settings())
  const key = running.ready.key.key
  const follow = (now: Running) => {
    running = now
    fake.webhooks.url = `${now.ready.url}/webhooks/github`
  }
  follow(running)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    fake,
    dataDir,
    get url() {
      return running.ready.url
    },
    async get(path) {
      const answer = await fetch(`${running.ready.url}${path}`, { headers })
      const body = (await answer.json()) as Json
      if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${JSON.stringify(body)}`)
      return body.data
    },
    async post(path, body) {
      const options = { method: 'POST', headers, body: JSON.stringify(body) }
      const answer = await fetch(`${running.ready.url}${path}`, options)
      return { status: answer.status, body: (await answer.json()) as Json }
    },
    async command(...args) {
      const { code, json, stderr } = await runProgram(dataDir, [...args, '--json'], settings())
      if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr}`)
      return json
    },
    until,
    async restart(signal = 'SIGTERM', changed = {}) {
      await running.stop(signal)
      Object.assign(env, changed)
      follow(await startProgram(dataDir, 'start', settings()))
    },
    async close() {
      await fake.close()
      await running.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function githubSettings({ settings }: FakeGitHub): Record<string, string> {
  return {
    SHIPLOCK_GITHUB_APP_ID: String(settings.appId),
    SHIPLOCK_GITHUB_PRIVATE_KEY: settings.privateKey,
    SHIPLOCK_GITHUB_WEBHOOK_SECRET: settings.webhookSecret,
    SHIPLOCK_GITHUB_API_URL: settings.apiUrl,
  }
}

async function until<Value>(read: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  const deadline = performance.now() + WAIT_MS_MAX
  for (;;) {
    const value = await read()
    if (fits(value)) return value
    if (performance.now() > deadline) throw new Error(`Still ${JSON.stringify(value, null, 2)}`)
    await setTimeout(POLL_MS)
  }
}
