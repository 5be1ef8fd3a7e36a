import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../../../support/assert-error.ts'
import { postAttestations, sbom, scan, sendReport, storedReport, TESTS } from '../../../../../../support/ci-reports.ts'
import { createRun } from '../../../../../../support/ci-runs.ts'
import type { Json } from '../../../../../../support/json.ts'

let api: TestApi
let caller: Caller
let report: Json

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  report = await sendReport(api, caller, (await createRun(api, caller)).id, { attestations: [TESTS] })
})

const add = (...attestations: unknown[]) => postAttestations(api, caller, report, attestations)
const stored = async () => (await storedReport(api, caller, report.report_id)).attestations

/** Data of each kind, and the status derived from it. */
const KINDS: [item: { kind: string; name: string; data: object; status?: string }, status: string][] = [
  [{ kind: 'test-results', name: 'unit', data: { passed: 1, failed: 1, skipped: 0, errors: 0 } }, 'fail'],
  [{ kind: 'coverage', name: 'unit', data: { lines: 71.5, threshold: 70 } }, 'pass'],
  [sbom(), 'info'],
  [scan({ critical: 1 }), 'fail'],
  [{ kind: 'custom', name: 'licences', status: 'warn', data: { anything: ['at', { all: true }] } }, 'warn'],
]

test('200 with report_id and id, kind, name and status of each, in the order of the request', async () => {
  const { status, body } = await add(...KINDS.map(([item]) => item))
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.data).sort(), ['attestations', 'report_id', 'warnings'])
  assert.deepEqual([body.data.report_id, body.data.warnings], [report.report_id, []])
  assert.deepEqual(
    body.data.attestations.map(({ id: _, ...rest }: Json) => rest),
    KINDS.map(([{ kind, name }, status]) => ({ kind, name, status })),
  )
  const ids = new Map((await stored()).map(({ id, kind }) => [kind, id]))
  for (const { id, kind } of body.data.attestations) assert.equal(id, ids.get(kind))
})

test('the data is stored as sent', async () => {
  await add(...KINDS.map(([item]) => item))
  const data = new Map((await stored()).map((item) => [item.kind, item.data]))
  for (const [item] of KINDS) assert.deepEqual(data.get(item.kind), item.data)
})

test('the same kind and name is replaced and keeps its id; everything else stays', async () => {
  const [before] = await stored()
  const added = await add(sbom(), scan())
  const again = await add(scan({ high: 2 }), { ...TESTS, data: { ...TESTS.data, failed: 1 } })
  const [newScan, tests] = again.body.data.attestations
  assert.deepEqual([newScan.id, newScan.status], [added.body.data.attestations[1].id, 'fail'])
  assert.deepEqual([tests.id, tests.status], [before.id, 'fail'])
  assert.deepEqual(
    (await stored()).map(({ kind, status }) => [kind, status]),
    [
      ['sbom', 'info'],
      ['scan', 'fail'],
      ['test-results', 'fail'],
    ],
  )
})

test('another name, or another kind of the same name, is added', async () => {
  await add({ ...TESTS, name: 'end to end' }, { kind: 'custom', name: TESTS.name, status: 'pass', data: {} })
  assert.equal((await stored()).length, 3)
})

for (const kind of ['provenance', 'ownership']) {
  test(`400 kind_not_allowed for ${kind}, and nothing of the call is stored`, async () => {
    const before = await stored()
    assertError(await add(sbom(), { kind, name: 'x', data: {} }), 400, 'kind_not_allowed')
    assert.deepEqual(await stored(), before)
  })
}

test('400 for no attestations, more than 20, the same twice, unknown fields and data without required fields', async () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...TESTS, name: `${index}` }))
  assert.equal((await add(...many(20))).status, 200)
  assertInvalid(await add(), '/body/attestations')
  assertInvalid(await add(...many(21)), '/body/attestations')
  assertInvalid(await add(TESTS, TESTS), '/body/attestations/1/name')
  assertInvalid(await add({ ...TESTS, extra: 1 }), '/body/attestations/0/extra')
  assertInvalid(await add({ ...TESTS, data: { passed: 1 } }), '/body/attestations/0/data/failed')
  assertInvalid(await add({ kind: 'custom', name: 'x', data: {} }), '/body/attestations/0/status')
  const path = `/v1/ci/runs/${report.run_id}/reports/${report.report_id}/attestations`
  assertInvalid(await api.request('POST', path, { key: caller.key, body: {} }), '/body/attestations')
  const body = { attestations: [TESTS], extra: 1 }
  assertInvalid(await api.request('POST', path, { key: caller.key, body }), '/body/extra')
})

for (const number of ['1e400', '-1e400']) {
  test(`400 that names the field of data with ${number}, a number beyond the range of a double`, async () => {
    const before = await stored()
    const path = `/v1/ci/runs/${report.run_id}/reports/${report.report_id}/attestations`
    const item = `{"kind":"custom","name":"x","status":"pass","data":{"load":[0,{"peak":${number}}]}}`
    const body = `{"attestations":[${item}]}`
    assertInvalid(await api.request('POST', path, { key: caller.key, body }), '/body/attestations/0/data/load/1/peak')
    assert.deepEqual(await stored(), before)
  })
}

test('a report can have 200 attestations over all calls; a call beyond that is a 400 that stores nothing', async () => {
  for (let call = 0; call < 10; call += 1) {
    const items = Array.from({ length: 20 }, (_, index) => ({ ...TESTS, name: `${call} ${index}` }))
    const { status } = await add(...(call === 9 ? items.slice(1) : items))
    assert.equal(status, 200)
  }
  assertInvalid(await add({ ...TESTS, name: 'one too many' }), '/body/attestations')
  assert.equal((await stored()).length, 200)
  assert.equal((await add(TESTS)).status, 200, 'a replacement is no addition')
})

test('404 not_found for an unknown report, a report of another run and one of another organization', async () => {
  const { id } = await createRun(api, caller)
  const unknown = { ...report, report_id: `1-${'0'.repeat(24)}` }
  for (const name of [unknown, { ...report, run_id: id }, { ...report, run_id: 'run_0' }]) {
    assertError(await postAttestations(api, caller, name, [TESTS]), 404, 'not_found')
  }
  assertError(await postAttestations(api, await api.caller(), report, [TESTS]), 404, 'not_found')
})

test('400 at /path/report_id for an id with an invalid form', async () => {
  for (const report_id of ['x', `0-${'0'.repeat(24)}`, `1000-${'0'.repeat(24)}`, `1-${'A'.repeat(24)}`]) {
    assertInvalid(await postAttestations(api, caller, { ...report, report_id }, [TESTS]), '/path/report_id')
  }
})

test('a status that differs from the derived one is ignored with a warning', async () => {
  const { body } = await add({ ...scan({ high: 1 }), status: 'pass' })
  assert.equal(body.data.attestations[0].status, 'fail')
  assert.match(body.data.warnings[0], /scan "sast".*fail, not pass/)
})

test('twelve identical concurrent calls have one effect: every response has the same ids', async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => add(sbom(), scan())))
  const ids = answers.map(({ status, body }) => [status, ...body.data.attestations.map(({ id }: Json) => id)])
  for (const answer of ids) assert.deepEqual(answer, ids[0])
  assert.equal((await stored()).length, 3)
})

test('concurrent calls with different attestations are all kept', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, index) => add({ ...TESTS, name: `suite ${index}` }, sbom())))
  assert.equal((await stored()).length, 14)
})
