import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { type Running, startProgram } from '../../support/program.ts'

const LIMIT = 60
const REQUESTS = 200
const WITHIN_MS = 50_000

let api: TestApi
const servers: Running[] = []

before(async () => {
  api = await startTestApi()
  const env = {
    DATABASE_URL: api.database.url,
    SHIPLOCK_RATE_LIMIT_PER_MINUTE: String(LIMIT),
    SHIPLOCK_CONSOLE: 'off',
  }
  for (let at = 0; at < 3; at += 1) servers.push(await startProgram(api.services.config.dataDir, 'server', env))
})
after(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await api?.close()
})

function askAll(key: string): Promise<Response[]> {
  const urls = Array.from({ length: REQUESTS }, (_, at) => `${servers[at % 3]?.ready.url}/v1/runs?limit=1`)
  return Promise.all(urls.map((url) => fetch(url, { headers: { authorization: `Bearer ${key}` } })))
}

test('three processes accept exactly as many of 200 parallel requests of a key as the limit allows', async () => {
  // A busy machine may need longer than the minute of a window.
  let answers: Response[] = []
  for (let tookMs = Number.POSITIVE_INFINITY; tookMs > WITHIN_MS; ) {
    const startedAt = performance.now()
    answers = await askAll((await api.caller()).key)
    tookMs = performance.now() - startedAt
  }
  const accepted = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 429)
  assert.deepEqual([accepted.length, refused.length], [LIMIT, REQUESTS - LIMIT])
  const remaining = accepted.map(({ headers }) => Number(headers.get('ratelimit-remaining')))
  assert.deepEqual(
    remaining.sort((a, b) => a - b),
    Array.from({ length: LIMIT }, (_, at) => at),
    'every accepted request has a place of its own',
  )
  for (const { headers } of refused) {
    const seconds = Number(headers.get('retry-after'))
    assert.ok(seconds >= 1 && seconds <= 60)
    assert.equal(headers.get('ratelimit-remaining'), '0')
  }
})
