import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { createUpload } from '../../../../support/reports.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

let files = 0
const newFile = () => Buffer.from(`a file that was never sent before: ${++files}`)
const create = (fields: Record<string, unknown> = {}) => createUpload(api, caller, newFile(), fields)
/** The upload that a body of only the required fields and these gives. */
const created = async (fields: Record<string, unknown> = {}) => {
  const answer = await create(fields)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data.upload
}

test('201 with a pending upload whose every field is there', async () => {
  const { body, headers } = await create()
  const { id, size, created_at, updated_at, ...rest } = body.data.upload
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.match(id, /^[0-9a-f]{32}$/)
  assert.ok(size > 1)
  assert.deepEqual([created_at, updated_at], ['2026-03-04T05:06:07.890Z', '2026-03-04T05:06:07.890Z'])
  assert.deepEqual(rest, {
    origin: 'api',
    status: 'pending',
    format: null,
    filename: 'report.sarif',
    repository: 'acme/app',
    provider: null,
    repository_id: null,
    category: null,
    git_ref: null,
    commit_sha: null,
    tracked: true,
    lanes: [
      { trust: 'uploaded', commit_sha: null, tracked: true, complete: null, reported_at: '2026-03-04T05:06:07.890Z' },
    ],
    awaits_confirmation: false,
    counts: {
      findings: 0,
      created: 0,
      updated: 0,
      unchanged: 0,
      resolved: 0,
      components: 0,
      openBySeverity: { critical: 0, high: 0, medium: 0, low: 0 },
      newIssues: 0,
      newCritical: 0,
      newHigh: 0,
      matches: { opened: 0, closed: 0 },
    },
    truncated: false,
    held: null,
    warnings: [],
    error: null,
    run_id: null,
    artifact_id: null,
    created_by: { type: 'api_key', id: caller.keyId, name: 'test key' },
  })
})

test('201 with an address and two headers, one of them the SHA-256 in base64, the other a content type', async () => {
  const file = newFile()
  const { put } = (await createUpload(api, caller, file)).body.data
  assert.deepEqual(Object.keys(put).sort(), ['headers', 'url'])
  assert.ok(URL.canParse(put.url))
  assert.deepEqual(put.headers, {
    'Content-Type': 'application/json',
    'x-storage-checksum-sha256': createHash('sha256').update(file).digest('base64'),
  })
})

test('400 for a missing required field, an unknown field, and a body that is not an object', async () => {
  for (const field of ['filename', 'size', 'sha256', 'repository']) {
    assertInvalid(await create({ [field]: undefined }), `/body/${field}`)
  }
  assertInvalid(await create({ ref: 'main' }), '/body/ref')
  assertInvalid(await create({ repository_id: '1' }), '/body/repository_id')
  const answer = await api.request('POST', '/v1/security/uploads', { key: caller.key, body: [] })
  assertError(answer, 400, 'invalid_request')
})

/** What every field takes at its bounds, and what it refuses just beyond. */
const BOUNDS: [field: string, taken: unknown[], refused: unknown[]][] = [
  ['filename', ['x', 'x'.repeat(200), '結果.sarif'], ['', 'x'.repeat(201), null, 1]],
  ['size', [1, 2 ** 30], [0, -1, 1.5, '1', null, 2 ** 53]],
  ['sha256', [], ['', 'a'.repeat(63), 'a'.repeat(65), 'A'.repeat(64), 'g'.repeat(64), `${'a'.repeat(64)}\n`, null]],
  ['format', ['auto', 'sarif', 'cyclonedx', 'spdx'], ['', 'SARIF', 'sarif2', null]],
  [
    'repository',
    ['a/b', `a/${'b'.repeat(298)}`],
    ['', 'a', 'a/', '/b', 'a//b', `a/${'b'.repeat(299)}`, ' a/b', null, 1],
  ],
  ['provider', ['github', 'gitlab', 'bitbucket', null], ['', 'GitHub', 'other', 1]],
  ['category', ['', 'x'.repeat(100), 'aZ09._/:-'], ['x'.repeat(101), 'a b', 'a\\b', 'ä', 'a\n', null]],
  ['gitRef', ['', 'x'.repeat(255), 'refs/heads/ünïcode'], ['x'.repeat(256), null, 1]],
  ['commitSha', ['abcdef0', '0123456789'.repeat(4)], ['', 'abcdef', 'a'.repeat(41), 'ABCDEF0', 'abcdefg', null]],
  ['tracked', [true, false], ['true', 0, null]],
]

/** A field that may be null can have more than one reason why it is wrong. */
function assertRefused(answer: Answer, path: string): void {
  const { errors } = assertError(answer, 400, 'invalid_request')
  assert.deepEqual([...new Set(errors.map((error: { path: string }) => error.path))], [path], answer.text)
}

for (const [field, taken, refused] of BOUNDS) {
  test(`201 with ${field} at its bounds, 400 beyond`, async () => {
    for (const value of taken) assert.equal((await create({ [field]: value })).status, 201, JSON.stringify(value))
    for (const value of refused) assertRefused(await create({ [field]: value }), `/body/${field}`)
  })
}

test('400 for a text with U+0000, which cannot be stored', async () => {
  for (const field of ['filename', 'repository', 'gitRef']) {
    assertInvalid(await create({ [field]: 'a/b\0c' }), `/body/${field}`)
  }
})

test('only the base name of filename is kept, whichever system wrote the path', async () => {
  const names = [
    'out/report.sarif',
    '/a/b/report.sarif',
    'C:\\scan\\report.sarif',
    '../../report.sarif',
    'a\\b/report.sarif',
  ]
  for (const filename of names) assert.equal((await created({ filename })).filename, 'report.sarif')
  for (const filename of ['out/', '..', 'a/..', '.', '\\', ' ']) {
    assertInvalid(await create({ filename }), '/body/filename')
  }
})

test("413 payload_too_large one byte over the plan's limit, 201 at it", async () => {
  const MIB = 2 ** 20
  for (const [plan, limit] of Object.entries({ team: 50 * MIB, business: 200 * MIB, enterprise: 1024 * MIB })) {
    const customer = await api.caller({ plan })
    assert.equal((await createUpload(api, customer, newFile(), { size: limit })).status, 201)
    const details = assertError(
      await createUpload(api, customer, newFile(), { size: limit + 1 }),
      413,
      'payload_too_large',
    )
    assert.equal(details.limit, limit)
  }
})

test('the upload contains the fields of the body', async () => {
  const upload = await created({ category: 'lint/web', gitRef: 'refs/tags/v1', commitSha: 'abcdef0', tracked: false })
  assert.equal(upload.category, 'lint/web')
  assert.equal(upload.git_ref, 'refs/tags/v1')
  assert.equal(upload.commit_sha, 'abcdef0')
  assert.equal(upload.tracked, false)
})

test('402 on the free plan, 201 from team on; 403 without write:security-findings', async () => {
  const free = await api.caller({ plan: 'free' })
  assertError(await createUpload(api, free, newFile()), 402, 'plan_required')
  const team = await api.caller({ plan: 'team', scopes: ['write:security-findings'] })
  assert.equal((await createUpload(api, team, newFile())).status, 201)
  const reader = await api.caller({ scopes: ['read:security', 'write:ci'] })
  assert.equal((await createUpload(api, reader, newFile())).text, '{"message":"Forbidden"}')
})
