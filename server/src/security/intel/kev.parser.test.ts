import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IntelError } from './intel-file.ts'
import { type KevEntry, parseKev } from './kev.parser.ts'

const ENTRY = { cveID: 'CVE-2021-44228', dateAdded: '2021-12-10', dueDate: '2021-12-24' }

const CATALOG = {
  title: 'CISA Catalog of Known Exploited Vulnerabilities',
  catalogVersion: '2026.03.01',
  dateReleased: '2026-03-01T15:00:14.2931Z',
  count: 1,
  vulnerabilities: [{ ...ENTRY, knownRansomwareCampaignUse: 'Known' }],
}

async function read(catalog: unknown) {
  const bytes = Buffer.from(typeof catalog === 'string' ? catalog : JSON.stringify(catalog))
  const batches = parseKev(piecesOf(bytes))
  const entries: KevEntry[] = []
  for (;;) {
    const step = await batches.next()
    if (step.done) return { entries, facts: step.value }
    entries.push(...step.value)
  }
}

async function* piecesOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 50) yield bytes.subarray(at, at + 50)
}

const refuses = (catalog: unknown, reason: RegExp) =>
  assert.rejects(read(catalog), (error) => error instanceof IntelError && reason.test(error.message))

test('an entry has its dates and whether it is known to be used by ransomware', async () => {
  const { entries, facts } = await read(CATALOG)
  assert.deepEqual(entries, [
    { cve_id: 'CVE-2021-44228', date_added: '2021-12-10', due_date: '2021-12-24', ransomware: true },
  ])
  assert.deepEqual(facts, {
    version: '2026.03.01',
    as_of: new Date('2026-03-01T15:00:14.293Z'),
    skipped: 0,
    reasons: [],
  })
})

test('unknown use by ransomware counts as no, and the due date is optional', async () => {
  const vulnerabilities = [{ ...ENTRY, dueDate: '', knownRansomwareCampaignUse: 'Unknown' }]
  const { entries } = await read({ ...CATALOG, vulnerabilities })
  assert.deepEqual([entries[0]?.ransomware, entries[0]?.due_date], [false, null])
})

test('an odd entry is skipped, and the reason names its index and id', async () => {
  const skips = async (fields: object, reason: RegExp) => {
    const { entries, facts } = await read({ ...CATALOG, vulnerabilities: [ENTRY, { ...ENTRY, ...fields }] })
    assert.deepEqual([entries.length, facts.skipped], [1, 1])
    assert.match(facts.reasons[0] ?? '', reason)
  }
  await skips({ cveID: 'log4shell' }, /^vulnerabilities\[1\] has no CVE id/)
  await skips({}, /^vulnerabilities\[1\] repeats CVE-2021-44228/)
  await skips({ cveID: 'CVE-2022-1234', dateAdded: '2022-02-30' }, /\[1\] \(CVE-2022-1234\): dateAdded/)
  await skips({ cveID: 'CVE-2022-1234', dueDate: 'soon' }, /\[1\] \(CVE-2022-1234\): dueDate/)
})

test('a catalog of odd entries is refused, so that it cannot delete the stored ones', async () => {
  await refuses({ ...CATALOG, vulnerabilities: [{ cve: 'CVE-2021-44228' }] }, /has no CVE id/)
  await refuses({ ...CATALOG, vulnerabilities: [ENTRY, 7, 8] }, /2 of 3 cannot be read/)
})

test('a file that is not a catalog is refused', async () => {
  await refuses('{"vulnerabilities": [', /JSON/)
  await refuses({ ...CATALOG, dateReleased: 'today' }, /dateReleased/)
  await refuses({ ...CATALOG, vulnerabilities: [] }, /contains no vulnerabilities/)
  await refuses([], /dateReleased/)
})
