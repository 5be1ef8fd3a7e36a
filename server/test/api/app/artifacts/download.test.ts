import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { formatArtifactKey } from '../../../../src/ci/reports/artifact-object.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { sendReport, uploadArtifact } from '../../../support/ci-reports.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'
import { uploadReport } from '../../../support/reports.ts'
import { sarif, sarifResult } from '../../../support/sarif.ts'

let api: TestApi
let caller: Caller
let viewer: Person

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  viewer = await createPerson(api, { ...caller, role: 'viewer' })
})
after(() => api?.close())

async function storeArtifact(path: string, bytes: string | Buffer): Promise<string> {
  const run = await createRun(api, caller)
  const report = await sendReport(api, caller, run.id)
  return uploadArtifact(api, caller, report as never, path, bytes)
}

function download(path: string, method = 'GET'): Promise<Response> {
  return fetch(api.url + viewer.org + path, { method, headers: { cookie: viewer.cookie } })
}

test('an artifact is downloaded byte for byte, as a file that no browser shows', async () => {
  const bytes = Buffer.concat([Buffer.from('<script>alert(1)</script>'), randomBytes(3_000_000)])
  const id = await storeArtifact('site/index.html', bytes)
  const response = await download(`/artifacts/${id}/download`)
  assert.equal(response.status, 200)
  assert.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
  const { headers } = response
  assert.equal(headers.get('content-type'), 'application/octet-stream')
  assert.equal(headers.get('content-length'), String(bytes.length))
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.match(headers.get('content-security-policy') ?? '', /^sandbox/)
  assert.match(headers.get('cache-control') ?? '', /no-store/)
  assert.equal(headers.get('content-disposition'), `attachment; filename="index.html"; filename*=UTF-8''index.html`)
})

test('an empty artifact is an empty file', async () => {
  const response = await download(`/artifacts/${await storeArtifact('empty', '')}/download`)
  assert.deepEqual([response.status, await response.text()], [200, ''])
})

const NAMES: [path: string, disposition: string][] = [
  ['a/ü "x";é.html', `attachment; filename="___x___.html"; filename*=UTF-8''%C3%BC%20%22x%22%3B%C3%A9.html`],
  ["it's (1)*.txt", `attachment; filename="it_s__1__.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
  ['🚀', `attachment; filename="__"; filename*=UTF-8''%F0%9F%9A%80`],
]
for (const [path, disposition] of NAMES) {
  test(`the name of the file is safe in a header: ${path}`, async () => {
    const response = await download(`/artifacts/${await storeArtifact(path, 'x')}/download`)
    await response.body?.cancel()
    assert.equal(response.headers.get('content-disposition'), disposition)
  })
}

test('404 not_found for an artifact whose file is gone', async () => {
  const id = await storeArtifact('gone', 'bytes')
  await api.services.objects.remove(formatArtifactKey(caller.orgId, id))
  assertError(await requestAs(api, viewer, 'GET', `/artifacts/${id}/download`), 404, 'not_found')
})

test('405 for HEAD, which would read the whole file', async () => {
  const id = await storeArtifact('file', 'bytes')
  assert.equal((await download(`/artifacts/${id}/download`, 'HEAD')).status, 405)
})

test('the file of a security upload is downloaded as it was sent', async () => {
  const report = sarif([sarifResult('rule')])
  const { id, filename } = await uploadReport(api, caller, report)
  const response = await download(`/security/uploads/${id}/download`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-disposition') ?? '', new RegExp(`^attachment; filename="${filename}"`))
  assert.deepEqual(JSON.parse(await response.text()), typeof report === 'string' ? JSON.parse(report) : report)
})

test('404 not_found for the file of an upload that failed', async () => {
  const { id, status } = await uploadReport(api, caller, '{"not": "a report"}' as never)
  assert.equal(status, 'failed')
  assertError(await requestAs(api, viewer, 'GET', `/security/uploads/${id}/download`), 404, 'not_found')
})
