import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { AUTHORITY, startCompanyProxy } from '../../../packages/network/test/support/company-proxy.ts'
import { published } from '../support/published.ts'

const CLI = new URL('../../../cli/', import.meta.url).pathname
const { consumer, runtimes } = published()
const SERVER = 'https://shiplock.example.test'
const SLOT = { artifact_id: 'art_1', path: 'a.txt', url: `${SERVER}/put`, headers: {}, expires_at: '' }
const REPORT = { report_id: 'rep_1', run_id: 'run_1', url: 'u', warnings: [], skipped: [], uploads: [SLOT] }

const received: string[] = []
const server = createServer(async (request, response) => {
  const { method, url = '' } = request
  const body = await text(request)
  received.push(`${method} ${url}${method === 'PUT' ? ` ${body}` : ''}`)
  if (method === 'PUT') return void response.end()
  if (url.endsWith('/reports')) return sendData(response, REPORT)
  if (!url.endsWith('/complete')) return sendData(response, { id: 'run_1' })
  sendData(response, { results: [{ artifact_id: 'art_1', status: 'uploaded', reason: null }] })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const proxy = await startCompanyProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'ada:s3cret')

function sendData(response: ServerResponse, data: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
}

before(async () => {
  await promisify(execFile)(process.execPath, [`${CLI}build.mjs`, join(consumer, 'cli')])
  writeFileSync(join(consumer, 'a.txt'), 'content')
  writeFileSync(join(consumer, 'proxy.mjs'), PROGRAM)
})
after(() => {
  proxy.close()
  server.close()
})

const PROGRAM = `
import { createClient } from '@shiplock/sdk'
const client = createClient({ url: '${SERVER}', token: 'x', retry: { attempts: 1 } })
try {
  console.log((await client.api.GET('/v1/runs/{id}', { params: { path: { id: 'run_1' } } })).data.data.id)
} catch (error) {
  console.log(error.name, error.message)
}`
const REPORTED = ['cli/shiplock.mjs', 'report', '--run', 'run_1', '--artifacts', 'a.txt']
const TRUSTING = [{ SHIPLOCK_CA_FILE: AUTHORITY }, { NODE_EXTRA_CA_CERTS: AUTHORITY }]
const UNTRUSTED = /issued by "Inspection CA, Example Company", is not trusted/

for (const { name, command } of runtimes.filter((runtime) => runtime.name.startsWith('Node'))) {
  const run = async (args: string[], env: object) => {
    const all = { HTTPS_PROXY: proxy.url, SHIPLOCK_URL: SERVER, SHIPLOCK_KEY: 'x', HOME: consumer, ...env }
    const ended = await promisify(execFile)(command, args, { cwd: consumer, env: all }).catch((error) => error)
    assert.ok(!`${ended.stdout}${ended.stderr}`.includes('s3cret'))
    return ended as { stdout: string; stderr: string; code?: number }
  }

  test(`on ${name}, the SDK goes through a proxy that reads TLS, and says whom it does not trust`, async () => {
    for (const env of TRUSTING) assert.equal((await run(['proxy.mjs'], env)).stdout, 'run_1\n')
    const { stdout } = await run(['proxy.mjs'], {})
    assert.match(stdout, /^NetworkError /)
    assert.match(stdout, UNTRUSTED)
  })

  test(`on ${name}, the command sends a report and its file through the proxy`, async () => {
    for (const env of TRUSTING) {
      received.length = 0
      const { stderr, code } = await run(REPORTED, env)
      assert.equal(code, undefined, stderr)
      assert.deepEqual(received, [
        'POST /v1/ci/runs/run_1/reports',
        'PUT /put content',
        'POST /v1/ci/runs/run_1/reports/rep_1/artifacts/complete',
      ])
    }
    const { stderr, code } = await run(REPORTED, {})
    assert.equal(code, 1)
    assert.match(stderr, UNTRUSTED)
  })
}
