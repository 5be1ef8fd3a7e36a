import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { countStates, listFindings } from '../support/findings.ts'
import { uploadReport } from '../support/reports.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

type Vulnerable = { name: string; id: string; manifest?: string; version?: string }

let documents = 0

/**
 * What a CycloneDX document did: its references, serial number and times are made anew for each.
 */
async function report(entries: (Vulnerable | null)[], listed: Vulnerable[] = [], fields: object = {}) {
  api.clock.advance(1000)
  const made = ++documents
  const components = [...entries, ...listed].flatMap((entry, index) => {
    if (entry === null) return []
    const { name, version = '1.0.0', manifest = 'package-lock.json' } = entry
    const properties = [{ name: 'SrcFile', value: manifest }]
    return [{ 'bom-ref': `${made}-${index}`, name, version, purl: `pkg:npm/${name}@${version}`, properties }]
  })
  const upload = await uploadReport(
    api,
    caller,
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      serialNumber: `urn:uuid:00000000-0000-4000-8000-${String(made).padStart(12, '0')}`,
      metadata: { timestamp: api.clock.now().toISOString(), tools: { components: [{ name: 'scanner' }] } },
      components,
      vulnerabilities: entries.map((entry, index) => entry && { id: entry.id, affects: [{ ref: `${made}-${index}` }] }),
    },
    { ...fields },
  )
  assert.equal(upload.status, 'finished', upload.error)
  const { created, updated, unchanged, resolved } = upload.counts
  return { created, updated, unchanged, resolved, held: upload.held, warnings: upload.warnings.join('\n') }
}

const vulnerable = (count: number, fields: Partial<Vulnerable> = {}): Vulnerable[] =>
  Array.from({ length: count }, (_, at) => ({ name: `package-${at}`, id: `CVE-2020-${1000 + at}`, ...fields }))

test('the same document, generated again in another order, changes nothing', async () => {
  await report(vulnerable(5))
  const again = await report(vulnerable(5).reverse())
  assert.deepEqual(again, { created: 0, updated: 0, unchanged: 5, resolved: 0, held: null, warnings: '' })
})

test('packages whose manifest moved keep their findings, also when they were upgraded', async () => {
  await report(vulnerable(5))
  const before = (await listFindings(api, caller)).map(({ id }) => id).sort()
  const moved = await report(vulnerable(5, { manifest: 'web/package-lock.json', version: '1.0.1' }))
  assert.deepEqual([moved.created, moved.updated, moved.resolved], [0, 5, 0])
  assert.deepEqual((await listFindings(api, caller)).map(({ id }) => id).sort(), before)
})

test('a document that names far fewer vulnerabilities closes nothing at first; the next that agrees closes them', async () => {
  await report(vulnerable(40))
  const held = await report(vulnerable(5), vulnerable(40))
  assert.equal(held.resolved, 0)
  assert.match(held.warnings, /35 of 40 open findings are missing/)
  assert.equal((await report(vulnerable(5), vulnerable(40))).resolved, 35)
})

test('findings of components that are gone or changed close at once, also if there are none left', async () => {
  await report(vulnerable(40))
  assert.equal((await report(vulnerable(5), vulnerable(40, { version: '2.0.0' }))).resolved, 35)
  assert.equal((await report([], vulnerable(5, { version: '1.0.1' }))).resolved, 5)
})

test('an empty list of vulnerabilities closes nothing of the components that are still there', async () => {
  await report(vulnerable(3))
  const plain = await report([], vulnerable(2))
  assert.deepEqual([plain.resolved, plain.held?.findings], [1, 2])
  assert.equal((await report([], vulnerable(2))).resolved, 0)
  assert.equal((await report([], vulnerable(2), { complete: true })).resolved, 2)
})

test('a document with a vulnerability that cannot be read closes nothing', async () => {
  await report(vulnerable(3))
  const skipped = await report([...vulnerable(1), null])
  assert.equal(skipped.resolved, 0)
  assert.match(skipped.warnings, /Vulnerability 2 is not an object; it was skipped\./)
  assert.deepEqual(await countStates(api, caller), { open: 3 })
})
