import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Json } from '../../../server/test/support/json.ts'
import { startProgram } from '../../../server/test/support/program.ts'
import { printedBy } from '../../../server/test/support/run-command.ts'
import type { Env } from './machine.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const POLL_MS = 100
const POLLS_MAX = 1200

/** A server with its database and worker, as `npm start` runs it. */
export type Shiplock = {
  url: string
  /** Runs a command line of the documentation in the directory of this repository. */
  administer(commandLine: string): Promise<Json>
  /** An organization with a key that may read everything and report, and one that decides deployments. */
  createOrganization(slug: string): Promise<Organization>
  close(): Promise<void>
}

export type Organization = {
  slug: string
  key: string
  get(path: string): Promise<Json>
  post(path: string, body: object): Promise<{ status: number; body: Json }>
  /** The same with a key that opens no gates, and so may answer them. */
  answer(path: string, body: object): Promise<{ status: number; body: Json }>
  /** Reads a list until it has items that are accepted. */
  until(path: string, accepts: (items: Json[]) => boolean): Promise<Json[]>
}

export async function startShiplock(): Promise<Shiplock> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-action-'))
  const running = await startProgram(dataDir)
  const { url } = running.ready
  return {
    url,
    administer: (commandLine) =>
      administer({ SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_PORT: new URL(url).port }, commandLine),
    createOrganization: (slug) => createOrganization(dataDir, url, slug),
    close: async () => {
      await running.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function administer(settings: Env, commandLine: string): Promise<Json> {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: ROOT, env: { PATH, HOME, ...settings } }
  const { stdout } = await promisify(execFile)('bash', ['-c', `${commandLine} --json`], options)
  return JSON.parse(stdout)
}

async function createOrganization(dataDir: string, url: string, slug: string): Promise<Organization> {
  await printedBy(dataDir, ['org', 'create', slug, '--plan', 'enterprise'])
  const createKey = async (name: string, scopes: string[]): Promise<string> => {
    const options = scopes.flatMap((scope) => ['--scope', scope])
    return (await printedBy(dataDir, ['key', 'create', '--org', slug, '--name', name, ...options])).key
  }
  const key = await createKey('reader', ['read:pipelines', 'read:security', 'read:deployments', 'write:ci'])
  const approver = await createKey('approver', ['write:deployments'])
  const callWith = (key: string) => async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, body: await response.json() }
  }
  const call = callWith(key)
  const get = async (path: string) => {
    const { status, body } = await call('GET', path)
    assert.equal(status, 200, JSON.stringify(body))
    return (body as Json).data
  }
  return {
    slug,
    key,
    get,
    post: (path, body) => call('POST', path, body),
    answer: (path, body) => callWith(approver)('POST', path, body),
    until: (path, accepts) => until(get, path, accepts),
  }
}

async function until(get: (path: string) => Promise<Json>, path: string, accepts: (items: Json[]) => boolean) {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const items = await get(path)
    if (accepts(items)) return items
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`${path} has not become what was expected: ${JSON.stringify(await get(path)).slice(0, 1000)}`)
}
