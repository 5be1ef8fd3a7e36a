import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { advisory, importRecords, listMatches, sbomOf } from '../../support/inventory.ts'
import { onlyIssue } from '../../support/issues.ts'
import { listJobs } from '../../support/queue.ts'
import { createUpload, putFile } from '../../support/reports.ts'
import { waitUntil } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/workers.ts'

// No second chance: a lost or doubled finding shows only in some orders.
const DOCUMENTS = 8

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

test('documents of one stream and imports at the same time, in two processes, end in one finding', async () => {
  const caller = await api.caller()
  await using one = startWorkerProcess(api)
  await using other = startWorkerProcess(api)
  await Promise.all([one.ready, other.ready])
  const send = async (index: number) => {
    const parts = ['pkg:npm/lodash@1.0.0', `pkg:npm/own-${index}@1.0.0`]
    const bytes = Buffer.from(JSON.stringify(sbomOf(parts, { tool: `syft${'abcdefgh'[index]}` })))
    const created = await createUpload(api, caller, bytes)
    await putFile(created, bytes)
    const { id } = created.body.data.upload
    await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  }
  const imports = async () => {
    for (const fixed of ['2.0.0', '0.5.0', '3.0.0'])
      await importRecords(api.services, advisory('GHSA-1', { fixed }), advisory('GHSA-2', { name: 'own-3', fixed }))
  }
  await Promise.all([...Array.from({ length: DOCUMENTS }, (_, index) => send(index)), imports()])
  await waitUntil(async () => (await listJobs(api.services.sql)).every(({ state }) => state === 'scheduled'))
  const found = await listMatches(api, caller, { state: 'open' })
  assert.deepEqual(found.map(({ vuln_ids, fixed_version }) => [vuln_ids[0], fixed_version]).sort(), [
    ['GHSA-1', '3.0.0'],
    ['GHSA-2', '3.0.0'],
  ])
  const failed = (await listJobs(api.services.sql)).filter(({ attempts }) => attempts > 0)
  assert.deepEqual(failed, [])
  assert.equal((await onlyIssue(api, caller).catch(() => null)) === null, true)
})
