import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import type { Services } from '../../src/services.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { createUpload, getUpload, putFile } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

const RESULTS = 4000
const POLLS_MAX = 5000
/** A report is read to its end twice: for what its results refer to, then for its results. */
const READ_FOR_RESULTS = 2

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

/**
 * The services with an object store that hands out the last quarter of a report's results only once
 * it is told.
 */
function holdingBack(services: Services, released: Promise<void>, onHeld = () => {}): Services {
  let readings = 0
  async function* read(key: string) {
    const bytes = await buffer(services.objects.read(key))
    const held = Math.floor((3 * bytes.length) / 4)
    yield bytes.subarray(0, held)
    readings += 1
    api.clock.advance(2000)
    if (readings === READ_FOR_RESULTS) {
      onHeld()
      await released
    }
    yield bytes.subarray(held)
  }
  return { ...services, objects: Object.create(services.objects, { read: { value: read } }) }
}

async function queueUpload(bytes: Buffer): Promise<string> {
  const created = await createUpload(api, caller, bytes)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  return id
}

test('while a report is being parsed its upload shows the findings read so far; until it ends no finding is there', async () => {
  const results = Array.from({ length: RESULTS }, (_, at) => sarifResult(`r${at}`))
  const bytes = Buffer.from(JSON.stringify(sarif(results)))
  const id = await queueUpload(bytes)
  const release = Promise.withResolvers<void>()
  const reading = readReportFile(holdingBack(api.services, release.promise), { org_id: caller.orgId, upload_id: id })
  const half = await untilRead(id)
  assert.equal(half.status, 'parsing')
  assert.ok(half.counts.findings > 0 && half.counts.findings < RESULTS, `${half.counts.findings}`)
  assert.deepEqual([half.counts.created, half.counts.unchanged, half.counts.resolved], [0, 0, 0])
  assert.equal((await listFindings(api, caller)).length, 0)

  release.resolve()
  await reading
  const whole = await getUpload(api, caller, id)
  assert.deepEqual([whole.status, whole.counts.findings, whole.counts.created], ['finished', RESULTS, RESULTS])
})

test('reading that is stopped ends at once, changes nothing, and can be repeated', async () => {
  caller = await api.caller()
  const id = await queueUpload(Buffer.from(JSON.stringify(sarif([sarifResult('a'), sarifResult('b')]))))
  const stop = new AbortController()
  const reached = Promise.withResolvers<void>()
  const payload = { org_id: caller.orgId, upload_id: id }
  const stuck = holdingBack(api.services, new Promise(() => {}), reached.resolve)
  const reading = readReportFile(stuck, payload, stop.signal)
  await reached.promise
  stop.abort(new Error('stopped'))
  await assert.rejects(reading)
  assert.equal((await getUpload(api, caller, id)).status, 'parsing')
  assert.equal((await listFindings(api, caller)).length, 0)

  await readReportFile(api.services, payload, new AbortController().signal)
  const { status, counts } = await getUpload(api, caller, id)
  assert.deepEqual([status, counts.findings], ['finished', 2])
})

async function untilRead(id: string) {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const upload = await getUpload(api, caller, id)
    if (upload.counts.findings > 0) return upload
  }
  throw new Error('No finding was read.')
}
