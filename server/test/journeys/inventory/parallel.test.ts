import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../../support/api.ts'
import { advisory, importRecords, sbomOf } from '../../support/inventory.ts'
import { listJobs } from '../../support/queue.ts'
import { createUpload, putFile } from '../../support/reports.ts'
import { until } from '../../support/until.ts'
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
  const listWork = async () =>
    (await listJobs(api.services.sql)).filter(({ name }) => /read-upload|match|advisories/.test(name))
  await until('documents are read and matched', 60_000, async () =>
    (await listWork()).every(({ state }) => state === 'failed'),
  ).catch(async (error) => assert.fail(`${error}: ${JSON.stringify(await listJobs(api.services.sql))}`))
  // The clock of the workers is not that of the test, whose lists end with its own time.
  const found = await api.services.sql`
    select vuln_ids[1] as id, fixed_version, state
    from findings
    where org_id = ${caller.orgId}
    order by 1`
  assert.deepEqual(
    found.map((row) => ({ ...row })),
    ['GHSA-1', 'GHSA-2'].map((id) => ({ id, fixed_version: '3.0.0', state: 'open' })),
  )
  assert.deepEqual(await listWork(), [])
})
