import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../../../support/api.ts'
import { SBOM } from '../../../support/furnish.ts'
import { uploadReport } from '../../../support/reports.ts'
import { sarif } from '../../../support/sarif.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

test('200 with the file as it was sent, and HEAD with its size; 404 for what is no bill of materials', async () => {
  const caller = await api.caller()
  const upload = await uploadReport(api, caller, SBOM)
  const path = `/v1/sboms/${upload.id}/document`
  const answer = await api.request('GET', path, { key: caller.key })
  assert.deepEqual([answer.status, answer.text], [200, JSON.stringify(SBOM)])
  const head = await api.request('HEAD', path, { key: caller.key })
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(JSON.stringify(SBOM).length)])
  const report = await uploadReport(api, caller, sarif([]))
  assert.equal((await api.request('GET', `/v1/sboms/${report.id}/document`, { key: caller.key })).status, 404)
  const other = await api.caller()
  assert.equal((await api.request('GET', path, { key: other.key })).status, 404)
})
