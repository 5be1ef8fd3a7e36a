import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { listAffected, listVulnerabilityGroups } from '../../src/security/intel/affected.store.ts'
import { importOsv } from '../../src/security/intel/import-osv.ts'
import { listGroupRatings } from '../../src/security/intel/intel.store.ts'
import { startTestApi, type TestApi } from '../support/api.ts'

let api: TestApi
let directory: string

before(async () => {
  api = await startTestApi()
  directory = mkdtempSync(join(tmpdir(), 'shiplock-affected-'))
})
after(async () => {
  await api?.close()
  rmSync(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  const { sql } = api.services
  await sql`
    truncate intel_advisories, intel_affected, intel_fixes, vulnerability_assertions, vulnerability_aliases`
  await sql`update intel_sources set as_of = null, records = 0, imported_at = null`
})

const inNpm = (...names: string[]) =>
  names.map((name) => ({
    package: { ecosystem: 'npm', name },
    ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '2.0.0' }] }],
    versions: ['1.0.0', 'a"b\\c{,}'],
  }))
const record = (id: string, day: string, affected: object[], fields: object = {}) => ({
  ...{ id, modified: `2026-03-${day}T00:00:00Z`, affected, ...fields },
})

async function importRecords(...records: object[]) {
  const paths = records.map((_, at) => join(directory, `${at}.json`))
  for (const [at, one] of records.entries()) writeFileSync(paths[at] as string, JSON.stringify(one))
  return importOsv(api.services, paths, () => {})
}

const listNpm = (...names: string[]) =>
  listAffected(
    api.services.sql,
    names.map((name) => ({ ecosystem: 'npm', package_key: name, releases: [''] })),
  )

async function versions(): Promise<string[]> {
  const rows = await api.services.sql<{ row: string }[]>`
    select advisory_id || ' ' || position || ' ' || xmin as row
    from intel_affected
    order by advisory_id, position`
  return rows.map(({ row }) => row)
}

test('an import keeps what a record says of each package, and asking for packages returns it', async () => {
  await importRecords(
    record('GHSA-1', '01', inNpm('a', 'b')),
    record('GHSA-2', '01', inNpm('b'), { withdrawn: '2026-03-01T00:00:00Z' }),
    record('DSA-1', '01', [{ package: { ecosystem: 'Debian:12', name: 'b' }, versions: ['1'] }], {
      upstream: ['CVE-2024-2', 'CVE-2024-1'],
    }),
  )
  const found = await listNpm('a', 'b', 'c')
  assert.deepEqual(
    found.map(({ package_key, id, withdrawn }) => [package_key, id, withdrawn]),
    [
      ['a', 'GHSA-1', false],
      ['b', 'GHSA-1', false],
      ['b', 'GHSA-2', true],
    ],
  )
  assert.deepEqual(found[0]?.packages, [
    {
      ...{ ecosystem: 'npm', release: '', package_key: 'a', name: 'a', urgency: null, informational: null },
      ...{ versions: ['1.0.0', 'a"b\\c{,}'], is_truncated: false },
      ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '2.0.0' }] }],
    },
  ])
  const debian = (...releases: string[]) =>
    listAffected(api.services.sql, [{ ecosystem: 'Debian', package_key: 'b', releases }])
  assert.deepEqual((await debian('12'))[0]?.upstream, ['CVE-2024-1', 'CVE-2024-2'])
  assert.deepEqual([(await debian('11')).length, (await debian()).length], [0, 0])
})

test('a newer record replaces what the older one said, and the same one again writes nothing', async () => {
  await importRecords(record('GHSA-1', '01', inNpm('a', 'b')), record('GHSA-2', '01', inNpm('a')))
  const stored = await versions()
  assert.equal(stored.length, 3)
  assert.equal((await importRecords(record('GHSA-1', '01', inNpm('a', 'b')))).unchanged, 1)
  assert.deepEqual(await versions(), stored)
  await importRecords(record('GHSA-1', '02', inNpm('c')))
  assert.deepEqual(
    (await listNpm('a', 'b', 'c')).map(({ package_key, id }) => [package_key, id]),
    [
      ['a', 'GHSA-2'],
      ['c', 'GHSA-1'],
    ],
  )
  assert.deepEqual((await versions()).at(-1), stored.at(-1))
  await importRecords(record('GHSA-1', '01', inNpm('d')))
  assert.equal((await listNpm('d')).length, 0)
})

test('a record that an earlier version imported is read again at the next import', async () => {
  const { sql } = api.services
  await importRecords(record('GHSA-1', '01', inNpm('a')))
  // The hash of what the earlier version kept: it did not contain the packages.
  await sql`delete from intel_affected`
  await sql`update intel_advisories set content_hash = substring(sha256('earlier') for 16)`
  assert.equal((await importRecords(record('GHSA-1', '01', inNpm('a')))).changed, 1)
  assert.equal((await listNpm('a')).length, 1)
})

test('the hash of a record covers its packages: other ranges or releases at the same time are a change', async () => {
  await importRecords(record('GHSA-1', '01', inNpm('a')))
  const [one] = inNpm('a')
  const changes = [
    [{ ...one, versions: [] }],
    [{ ...one, ranges: [] }],
    [{ ...one, database_specific: { informational: 'unmaintained' } }],
    [],
  ]
  for (const affected of changes) assert.equal((await importRecords(record('GHSA-1', '01', affected))).changed, 1)
  assert.deepEqual(await versions(), [])
})

test('ids have the group of their aliases, and its severity is that of the best advisory', async () => {
  const cvss = (score: string) => ({ severity: [{ type: 'CVSS_V3', score }] })
  await importRecords(
    record('GHSA-1', '01', [], {
      aliases: ['CVE-2024-1'],
      ...cvss('CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'),
      database_specific: { severity: 'HIGH' },
    }),
    record('PYSEC-1', '01', [], { aliases: ['CVE-2024-1'] }),
    record('GHSA-2', '01', []),
  )
  const groups = await listVulnerabilityGroups(api.services.sql, ['GHSA-1', 'GHSA-2'])
  assert.deepEqual(groups.get('GHSA-1'), { canonical_id: 'CVE-2024-1', ids: ['CVE-2024-1', 'GHSA-1', 'PYSEC-1'] })
  assert.equal(groups.has('GHSA-2'), false)
  const ratings = await listGroupRatings(api.services.sql, [
    { canonical_id: 'CVE-2024-1', ids: ['CVE-2024-1', 'GHSA-1', 'PYSEC-1'] },
    { canonical_id: 'GHSA-2', ids: ['GHSA-2'] },
  ])
  assert.deepEqual(
    [...ratings].map(([id, { severity, cvss_score }]) => [id, severity, cvss_score]),
    [
      ['CVE-2024-1', 'high', 9.8],
      ['GHSA-2', null, null],
    ],
  )
})
