import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { ended, shiplock, startShiplock } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'

const RUN = { id: 'run_1', attempt: 1, provider: 'other', repository: 'r', app_url: 'u' }
const ARGS = ['run', 'start', '--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]

test('a server that cannot be reached: the error names it, and the request is repeated', async () => {
  const url = await closedAddress()
  const child = startShiplock(ARGS, { env: { SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' } })
  const end = ended(child)
  child.stderr?.once('data', () => child.kill('SIGINT'))
  const { code, stderr } = await end
  assert.equal(stderr, `The server at ${url} cannot be reached (ECONNREFUSED). Retrying in 2 s (try 2 of 6)\n`)
  assert.equal(code, 130)
})

/** An address on which nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.on('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

test('0: a server that is busy is tried again after the time that it names', async () => {
  let tries = 0
  const { url } = await startScriptedServer((_received, response) => {
    if (++tries > 2) return sendJson(response, 201, { data: RUN })
    sendJson(
      response,
      503,
      { error: { code: 'unavailable', message: 'The database cannot be reached.', details: {} } },
      { 'retry-after': '0' },
    )
  })
  const { code, stdout, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' } })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'run_1\n')
  assert.match(
    stderr,
    /^The database cannot be reached\. Retrying in 0 s \(try 2 of 6\)\nThe database cannot be reached\. Retrying in 0 s \(try 3 of 6\)\n/,
  )
})

test('0: a run that its code host has not reported yet is asked for again', async () => {
  let tries = 0
  const { url } = await startScriptedServer((_received, response) => {
    if (++tries > 1) return sendJson(response, 200, { data: { ...RUN, id: 'gh_run_1', provider: 'github' } })
    const error = { code: 'run_not_found', message: 'GitHub has not reported this run yet.', details: {} }
    sendJson(response, 404, { error }, { 'retry-after': '0' })
  })
  const { code, stdout, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' } })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'gh_run_1\n')
  assert.match(stderr, /^GitHub has not reported this run yet\. Retrying in 0 s \(try 2 of 6\)\n/)
})

test('1: the error says that the answer is not from the API', async () => {
  const { url } = await startScriptedServer(
    (_received, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  )
  const { code, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' } })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^shiplock: The server at http:\S+ answered with text\/html that is not JSON\. Check the URL\. \(200 invalid_response\)\n$/,
  )
})

test('a message of the server cannot control the terminal', async () => {
  const { url } = await startScriptedServer((_received, response) =>
    sendJson(response, 400, { error: { code: 'invalid_request', message: 'no\u001b[2J\nway', details: {} } }),
  )
  const { code, stderr } = await shiplock(ARGS, { env: { SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' } })
  assert.equal(code, 1)
  assert.equal(stderr, 'shiplock: no\\u001b[2J way (400 invalid_request)\n')
})
