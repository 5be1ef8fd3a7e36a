import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertInvalid } from '../../../../support/assert-error.ts'
import { BAD_URLS, createRun, postRun } from '../../../../support/ci-runs.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi({ env: { SHIPLOCK_BASE_URL: 'https://shiplock.example' } })
  caller = await api.caller()
})
after(() => api?.close())

const text = (length: number) => 'x'.repeat(length)
const longUrl = (length: number) => 'https://ci.example/'.padEnd(length, 'x')
const hex = (length: number) => '0123456789abcdef'.repeat(8).slice(0, length)

/** The body table of the specification: each field with valid and invalid values at its bounds. */
const FIELDS: [field: string, takes: unknown[], refuses: unknown[]][] = [
  ['ci_system', ['a', '0', 'git-lab-', text(32)], ['', 'A', '-a', 'a_b', 'a b', text(33), 'a\n']],
  ['ci_system_name', ['x', text(60), '🚀'.repeat(60)], ['', text(61)]],
  ['external_run_id', ['a', 'A.z_0:9/-', text(128)], ['', 'a b', 'a#b', 'é', text(129), 'a\n']],
  ['attempt', [1, 999], [0, -1, 1000, 1.5, '1']],
  ['commit_sha', [hex(40), hex(64)], ['', hex(39), hex(41), hex(63), hex(65), hex(40).toUpperCase(), `${hex(40)}\n`]],
  ['ref', ['x', 'refs/heads/main', text(255)], ['', text(256)]],
  ['pipeline_name', ['x', text(200)], ['', text(201)]],
  [
    'url',
    ['https://ci.example/1', 'HTTPS://ci.example:8443', 'http://[::1]/a@b?user=u:p@h#1', longUrl(2048)],
    [longUrl(2049), ...BAD_URLS],
  ],
  ['status', ['queued', 'in_progress'], ['success', 'failure', 'timed_out', 'skipped', 'cancelled', 'QUEUED', '']],
  [
    'started_at',
    ['2026-03-04T05:06:07Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-01-01T00:00:00.5+14:00'],
    [
      '2026-03-04T05:06:07',
      '2026-03-04',
      '2026-02-30T00:00:00Z',
      '0000-12-31T00:00:00Z',
      '9999-12-31T23:59:59-01:00',
      '',
      'now',
    ],
  ],
  ['actor', ['x', text(200)], ['', text(201)]],
  ['event', ['push', 'pull_request', 'tag', 'schedule', 'manual', 'other'], ['merge', '', 'Push']],
  ['timeout_minutes', [5, 4320], [4, 4321, 0, -1, 5.5, '30']],
]

for (const [field, takes, refuses] of FIELDS) {
  test(`201 for ${field} at its bounds, and the value is kept`, async () => {
    const own = await api.caller()
    for (const value of takes) {
      const { status, body } = await postRun(api, own, { [field]: value })
      assert.equal(status, 201, `${JSON.stringify(value)}: ${JSON.stringify(body)}`)
      if (field === 'timeout_minutes') continue
      const kept = field === 'started_at' ? new Date(value as string).toISOString() : value
      assert.equal(body.data[field], kept)
    }
  })

  test(`400 at /body/${field} beyond its bounds`, async () => {
    for (const value of refuses) assertInvalid(await postRun(api, caller, { [field]: value }), `/body/${field}`)
  })
}

for (const field of ['ci_system', 'external_run_id', 'repository', 'commit_sha', 'pipeline_name']) {
  test(`400 at /body/${field} when it is missing`, async () => {
    assertInvalid(await postRun(api, caller, { [field]: undefined }), `/body/${field}`)
  })
}

test('400 that says what a url must be, and does not repeat its credentials', async () => {
  const answer = await postRun(api, caller, { url: 'https://user:hunter2@ci.example/1' })
  assertInvalid(answer, '/body/url')
  assert.match(answer.body.error.message, /^\/body\/url: is not valid\. .*http or https, without credentials/)
  assert.doesNotMatch(answer.text, /hunter2/)
})

test('201 with every field of a CI run, and the defaults', async () => {
  const run = await createRun(api, caller, { external_run_id: 'defaults' })
  const now = api.clock.now()
  const { id, ...rest } = run
  assert.match(id, /^run_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
  assert.deepEqual(rest, {
    provider: 'other',
    ci_system: 'buildkite',
    ci_system_name: null,
    external_run_id: 'defaults',
    attempt: 1,
    repository: 'github.com/acme/api',
    commit_sha: 'a'.repeat(40),
    ref: null,
    pipeline_name: 'build',
    url: null,
    status: 'in_progress',
    started_at: now.toISOString(),
    completed_at: null,
    actor: null,
    event: 'other',
    deadline_at: new Date(now.getTime() + 360 * 60_000).toISOString(),
    trust: 'self_reported',
    stands_beside: null,
    linked_repository: null,
    credential: { type: 'api_key', name: 'test key' },
    app_url: `https://shiplock.example/runs/${id}`,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
  })
})

test('the deadline is timeout_minutes after creation, not after started_at', async () => {
  const run = await createRun(api, caller, { timeout_minutes: 5, started_at: '2026-03-01T00:00:00Z' })
  assert.equal(run.deadline_at, new Date(api.clock.now().getTime() + 5 * 60_000).toISOString())
})
