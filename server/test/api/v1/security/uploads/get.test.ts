import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { expireUploads } from '../../../../../src/security/uploads/expire-uploads.job.ts'
import { getReportKey } from '../../../../../src/security/uploads/upload-file.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { countStates } from '../../../../support/findings.ts'
import { createUpload, getUpload, putFile, type UploadOptions, uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult, scoredResult } from '../../../../support/sarif.ts'

const MINUTE_MS = 60_000
const FILE = Buffer.from(JSON.stringify(sarif([sarifResult('a')])))

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const get = (id: string, { key }: Caller = caller) => api.request('GET', `/v1/security/uploads/${id}`, { key })

test('200 with the upload itself as data', async () => {
  const created = await createUpload(api, caller, FILE)
  const { status, body } = await get(created.body.data.upload.id)
  assert.deepEqual([status, body], [200, { data: created.body.data.upload }])
})

test("404 for an unknown id and for another organization's, 400 for an invalid id", async () => {
  const { id } = (await createUpload(api, caller, FILE)).body.data.upload
  assertError(await get('f'.repeat(32)), 404, 'not_found')
  assertError(await get(id, await api.caller()), 404, 'not_found')
  for (const wrong of [`${id}0`, id.toUpperCase().replace(/\d/g, 'A'), 'x']) {
    assertInvalid(await get(wrong), '/path/uploadId')
  }
})

test('pending until the last millisecond of its 15 minutes, then failed with upload expired', async () => {
  const { id } = (await createUpload(api, caller, FILE)).body.data.upload
  api.clock.advance(15 * MINUTE_MS - 1)
  assert.equal((await getUpload(api, caller, id)).status, 'pending')
  api.clock.advance(1)
  const expired = await getUpload(api, caller, id)
  assert.deepEqual([expired.status, expired.error], ['failed', 'upload expired'])
})

test('creating a pending upload again gives it another 15 minutes', async () => {
  const { id } = (await createUpload(api, caller, FILE)).body.data.upload
  api.clock.advance(10 * MINUTE_MS)
  await createUpload(api, caller, FILE)
  api.clock.advance(15 * MINUTE_MS - 1)
  assert.equal((await getUpload(api, caller, id)).status, 'pending')
  api.clock.advance(1)
  assert.equal((await getUpload(api, caller, id)).status, 'failed')
})

test('an expired upload is returned the same before and after the sweep, which removes its file', async () => {
  const created = await createUpload(api, caller, FILE)
  await putFile(created, FILE)
  const { id } = created.body.data.upload
  api.clock.advance(15 * MINUTE_MS)
  const unswept = await getUpload(api, caller, id)
  await expireUploads(api.services)
  assert.deepEqual(await getUpload(api, caller, id), unswept)
  assert.equal(unswept.updated_at, api.clock.now().toISOString())
  assert.equal(await api.services.objects.stat(getReportKey(caller.orgId, id)), null)
})

test('counts contain the changes of the report and the open findings by severity', async () => {
  const results = [9.8, 9.1, 7.5, 5.0, 5.1, 0.5].map((score, index) => scoredResult(`r${index}`, score))
  const upload = await uploadReport(api, caller, sarif(results))
  assert.deepEqual([upload.status, upload.format, upload.error], ['finished', 'sarif', null])
  assert.deepEqual(upload.counts, {
    findings: 6,
    created: 6,
    updated: 0,
    unchanged: 0,
    resolved: 0,
    components: 0,
    openBySeverity: { critical: 2, high: 1, medium: 2, low: 1 },
    newIssues: 6,
    newCritical: 2,
    newHigh: 1,
    matches: { opened: 0, closed: 0 },
  })
  api.clock.advance(1)
  const next = await uploadReport(
    api,
    caller,
    sarif([...results.slice(2), scoredResult('r6', 8.8), sarifResult('r7', 1, { level: 'none' })]),
  )
  assert.deepEqual(next.counts, {
    findings: 6,
    created: 2,
    updated: 0,
    unchanged: 4,
    resolved: 2,
    components: 0,
    openBySeverity: { critical: 0, high: 2, medium: 2, low: 1 },
    newIssues: 2,
    newCritical: 0,
    newHigh: 1,
    matches: { opened: 0, closed: 0 },
  })
})

/** Files that cannot be read, and the errors of their uploads. */
const UNREADABLE: [
  name: string,
  file: string | Buffer | object,
  options: UploadOptions,
  error: RegExp,
  format: string | null,
][] = [
  ['text', 'not json', {}, /not JSON/, null],
  ['broken JSON', '{"version":"2.1.0","runs":[', {}, /JSON/, 'sarif'],
  [
    'JSON of no known kind',
    { a: 1 },
    {},
    /^The file is JSON, but not SARIF, CycloneDX, SPDX, OpenVEX or CSAF\.$/,
    null,
  ],
  [
    'SARIF 2.0.0',
    { version: '2.0.0', runs: [] },
    {},
    /^The SARIF version "2\.0\.0" is not supported; use SARIF 2\.1\.0\.$/,
    'sarif',
  ],
  [
    'SARIF that is said to be SPDX',
    sarif([sarifResult('x')]),
    { format: 'spdx' },
    /^The file is SARIF, but `format` is "spdx"\.$/,
    'sarif',
  ],
  [
    'SARIF that is said to be CycloneDX',
    sarif([]),
    { format: 'cyclonedx' },
    /^The file is SARIF, but `format` is "cyclonedx"\.$/,
    'sarif',
  ],
  ['CycloneDX 2.0', { bomFormat: 'CycloneDX', specVersion: '2.0' }, {}, /2\.0/, 'cyclonedx'],
  ['SPDX 2.1', { spdxVersion: 'SPDX-2.1' }, { format: 'spdx' }, /2\.1/, 'spdx'],
  [
    'CycloneDX that is said to be SARIF',
    { bomFormat: 'CycloneDX' },
    { format: 'sarif' },
    /^The file is CycloneDX, but `format` is "sarif"\.$/,
    'cyclonedx',
  ],
  ["a scanner's own JSON", { SchemaVersion: 2, ArtifactName: 'a', Results: [] }, {}, /Trivy.*--format sarif/, null],
  ["another scanner's own JSON", { matches: [], source: {}, descriptor: { name: 'grype' } }, {}, /Grype.*sarif/, null],
]

for (const [name, file, options, error, format] of UNREADABLE) {
  test(`failed with the reason: ${name}; findings do not change, and the file is deleted`, async () => {
    await uploadReport(api, caller, FILE)
    api.clock.advance(1)
    const upload = await uploadReport(api, caller, file, options)
    assert.equal(upload.status, 'failed')
    assert.match(upload.error, error)
    assert.equal(upload.format, format)
    assert.equal(upload.counts.findings, 0)
    assert.deepEqual(await countStates(api, caller), { open: 1 })
    assert.equal(await api.services.objects.stat(getReportKey(caller.orgId, upload.id)), null)
  })
}

test('SARIF with a byte order mark, in UTF-8 or UTF-16, is read', async () => {
  for (const encode of [
    (text: string) => Buffer.from(`\ufeff${text}`),
    (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
    (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  ]) {
    const upload = await uploadReport(api, await api.caller(), encode(JSON.stringify(sarif([sarifResult('é')]))))
    assert.deepEqual([upload.status, upload.counts.findings], ['finished', 1])
  }
})

test('one bad result is skipped with a warning, the others are read', async () => {
  const upload = await uploadReport(api, caller, sarif([sarifResult('a'), 7, sarifResult('b'), {}]))
  assert.deepEqual([upload.status, upload.counts.findings, upload.warnings.length], ['finished', 2, 3])
  for (const warning of upload.warnings) assert.match(warning, /skipped/)
})
