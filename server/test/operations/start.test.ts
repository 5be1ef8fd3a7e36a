import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Running, runProgram, startOnEmpty, startProgram } from '../support/program.ts'

const RUN = {
  ci_system: 'jenkins',
  external_run_id: '1',
  repository: 'github.com/acme/shop',
  commit_sha: '0123456789abcdef0123456789abcdef01234567',
  pipeline_name: 'build',
}

let dataDir: string
let running: Running
let key: string

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-start-'))
  running = await startOnEmpty(dataDir)
  key = running.ready.key.key
})

after(async () => {
  await running.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const postmaster = () => join(dataDir, 'postgres/postmaster.pid')
const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })

async function runIds(): Promise<string[]> {
  const response = await fetch(`${running.ready.url}/v1/runs`, { headers: headers() })
  assert.equal(response.status, 200)
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

async function postRun(externalRunId: string): Promise<string> {
  const body = JSON.stringify({ ...RUN, external_run_id: externalRunId })
  const response = await fetch(`${running.ready.url}/v1/ci/runs`, { method: 'POST', headers: headers(), body })
  assert.equal(response.status, 201)
  return ((await response.json()) as { data: { id: string } }).data.id
}

test('the first start creates the organization default with a key that works for every operation', async () => {
  assert.equal(running.ready.organization.slug, 'default')
  assert.equal(running.ready.organization.plan, 'enterprise')
  const id = await postRun('1')
  assert.deepEqual(await runIds(), [id])
})

test('with port 0 the base address has the port that the system chose', async () => {
  const port = Number(new URL(running.ready.url).port)
  assert.ok(port > 0)
  const document = (await (await fetch(`${running.ready.url}/v1/openapi.json`)).json()) as {
    servers: { url: string }[]
  }
  assert.equal(document.servers[0]?.url, running.ready.url)
})

test('a second start on the same data directory is refused in one line and leaves the first alone', async () => {
  const second = await runProgram(dataDir, ['start'])
  assert.equal(second.code, 1)
  assert.equal(second.stdout, '')
  assert.match(
    second.stderr,
    new RegExp(`^Shiplock is already running on ${dataDir} \\(pid ${running.child.pid}\\)$`, 'm'),
  )
  assert.equal((await fetch(`${running.ready.url}/readyz`)).status, 200)
})

test('a taken port is named in one line, and PostgreSQL is stopped again', async () => {
  const other = mkdtempSync(join(tmpdir(), 'shiplock-start-'))
  try {
    const port = new URL(running.ready.url).port
    const second = await runProgram(other, ['start'], { SHIPLOCK_PORT: port })
    assert.equal(second.code, 1)
    assert.match(
      second.stderr,
      new RegExp(`^Port ${port} of 127.0.0.1 is in use by another program; change SHIPLOCK_PORT.*$`, 'm'),
    )
    assert.ok(!existsSync(join(other, 'postgres/postmaster.pid')))
  } finally {
    rmSync(other, { recursive: true, force: true })
  }
})

test('SIGTERM lets a request in progress finish, exits with 0 and leaves no process running', async () => {
  const body = JSON.stringify({ ...RUN, external_run_id: 'in flight' })
  const request = httpRequest(`${running.ready.url}/v1/ci/runs`, {
    method: 'POST',
    headers: { ...headers(), expect: '100-continue', 'content-length': Buffer.byteLength(body) },
  })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    request.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject)
  })
  await new Promise((resolve) => request.once('continue', resolve).flushHeaders())
  const stopped = running.stop('SIGTERM')
  running.child.kill('SIGINT') // an impatient second signal
  await assert.rejects(untilRefused())
  request.end(body)
  assert.equal(await answered, 400) // a run id cannot contain a space, which the server only knows after it has read the body
  assert.equal(await stopped, 0)
  assert.ok(!existsSync(postmaster()))
})

/** Polls until the port is closed. */
async function untilRefused(): Promise<never> {
  for (;;) await (await fetch(`${running.ready.url}/healthz`, { headers: { connection: 'close' } })).text()
}

test('the next start keeps the data, creates no second key, and prints a setup link while there is no Org admin', async () => {
  running = await startProgram(dataDir)
  assert.deepEqual(Object.keys(running.ready), ['url', 'setup'])
  assert.equal(running.ready.setup.organization, 'default')
  assert.equal((await runIds()).length, 1)
})

test('a start prints no setup link once the link was used to make the first Org admin', async () => {
  const { url, setup } = running.ready
  assert.ok(setup.link.startsWith(`${url.replace('127.0.0.1', 'localhost')}/join#token=`))
  const fields = { email: 'ada@example.com', name: 'Ada Lovelace', password: 'a plain but long sentence' }
  const response = await fetch(`${url}/app/api/links/accept`, {
    method: 'POST',
    headers: { origin: url, 'x-shiplock-csrf': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ token: setup.link.split('#token=')[1], ...fields }),
  })
  assert.equal(response.status, 200)
  await running.stop()
  running = await startProgram(dataDir)
  assert.deepEqual(Object.keys(running.ready), ['url'])
})

test('after kill -9, the next start recovers everything that was confirmed', async () => {
  const id = await postRun('2')
  await running.stop('SIGKILL')
  running = await startProgram(dataDir)
  assert.ok((await runIds()).includes(id))
})
