import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'

const CLIENTS = 2

let dataDir: string
let key: string
let ports: number[]
let servers: Running[]

const startServer = (port: number) =>
  startProgram(dataDir, 'server', { SHIPLOCK_PORT: String(port), SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0' })

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-restart-'))
  await runProgram(dataDir, ['org', 'create', 'acme', '--json'])
  const scopes = ['--scope', 'write:ci', '--scope', 'read:pipelines']
  key = (await runProgram(dataDir, ['key', 'create', '--org', 'acme', '--name', 'test', ...scopes, '--json'])).json.key
  ports = [await freePort(), await freePort()]
  servers = await Promise.all(ports.map(startServer))
})
after(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(dataDir, { recursive: true, force: true })
})

/**
 * Tries the servers in turn, as a load balancer does. It tries again only where no connection was
 * established: where the port refused it, or was closed before the server accepted it.
 */
async function send(turn: number): Promise<number> {
  for (let attempt = 0; attempt < ports.length; attempt += 1) {
    const url = `http://127.0.0.1:${ports[(turn + attempt) % ports.length]}`
    try {
      return await (turn % 3 === 0 ? createRun(url, turn) : listRuns(url))
    } catch (error) {
      if ((error as { cause?: { syscall?: string } }).cause?.syscall !== 'connect') throw error
    }
  }
  throw new Error('Neither server accepted the connection')
}

async function listRuns(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/runs?limit=1`, { headers: { authorization: `Bearer ${key}` } })
  await response.text()
  return response.status
}

async function createRun(url: string, turn: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    ci_system: 'jenkins',
    external_run_id: String(turn),
    repository: 'github.com/acme/shop',
    commit_sha: '0123456789abcdef0123456789abcdef01234567',
    pipeline_name: 'build',
  })
  const response = await fetch(`${url}/v1/ci/runs`, { method: 'POST', headers, body })
  await response.text()
  return response.status
}

test('no request is lost while two servers are restarted one after the other', async () => {
  const statuses = new Map<string, number>()
  let turn = 0
  let restarted = false
  const client = async () => {
    while (!restarted) {
      turn += 1
      const result = await send(turn).then(String, (error) => String(error.cause ?? error))
      statuses.set(result, (statuses.get(result) ?? 0) + 1)
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)
  for (const [index, port] of ports.entries()) {
    assert.equal(await servers[index]?.stop(), 0)
    servers[index] = await startServer(port)
  }
  restarted = true
  await Promise.all(clients)
  assert.ok([...statuses.values()].reduce((sum, count) => sum + count, 0) > 50)
  assert.deepEqual(
    [...statuses.keys()].filter((status) => !['200', '201'].includes(status)),
    [],
  )
})
