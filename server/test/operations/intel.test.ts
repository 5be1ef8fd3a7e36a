import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { countAliases } from '../../src/security/intel/alias.store.ts'
import { importOsv } from '../../src/security/intel/import-osv.ts'
import { importEpss, importKev } from '../../src/security/intel/import-source.ts'
import { IntelError } from '../../src/security/intel/intel-file.ts'
import { listSources } from '../../src/security/intel/intel-source.store.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { runProgram, startProgram } from '../support/program.ts'

let api: TestApi
let directory: string
let printed: string[]

before(async () => {
  api = await startTestApi()
  directory = mkdtempSync(join(tmpdir(), 'shiplock-intel-'))
})
after(async () => {
  await api?.close()
  rmSync(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  printed = []
  const { sql } = api.services
  await sql`truncate intel_kev, intel_epss, intel_advisories, intel_affected, intel_fixes, vulnerability_assertions, vulnerability_aliases`
  await sql`update intel_sources set as_of = null, version = null, records = 0, imported_at = null`
})

const print = (line: string) => printed.push(line)
const kev = (path: string) => importKev(api.services, path, print)
const epss = (path: string) => importEpss(api.services, path, print)
const osv = (...paths: string[]) => importOsv(api.services, paths, print)
const refuses = (importing: Promise<unknown>, reason: RegExp) =>
  assert.rejects(importing, (error) => error instanceof IntelError && reason.test(error.message))

function file(name: string, content: string | Buffer | object): string {
  const path = join(directory, name)
  writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
  return path
}

const catalogue = (day: string, ...ids: string[]) => ({
  catalogVersion: '1',
  dateReleased: `2026-03-${day}T12:00:00Z`,
  vulnerabilities: ids.map((cveID) => ({ cveID, dateAdded: '2026-01-02' })),
})

const scores = (day: string, rows: string[]) =>
  [`#model_version:v1,score_date:2026-03-${day}`, 'cve,epss,percentile', ...rows, ''].join('\n')

const record = (id: string, aliases: string[] = [], day = '01') => ({
  id,
  modified: `2026-03-${day}T00:00:00Z`,
  aliases,
})

/** A table's rows, each with the id of the transaction that wrote it. */
async function versions(table: string): Promise<unknown[]> {
  return (await api.services.sql.unsafe(`select *, xmin::text from ${table} order by 1, 2`)).map((row) => ({ ...row }))
}

async function groups(): Promise<Record<string, string>> {
  const rows = await api.services.sql<{ id: string; canonical_id: string }[]>`
    select id, canonical_id
    from vulnerability_aliases
    order by id`
  return Object.fromEntries(rows.map(({ id, canonical_id }) => [id, canonical_id]))
}

test('a newer KEV catalog replaces the stored one and writes only the entries that differ', async () => {
  await kev(file('kev.json', catalogue('01', 'CVE-2024-1000', 'CVE-2024-1001')))
  const [kept] = await versions('intel_kev')
  assert.deepEqual(await kev(file('kev.json', catalogue('02', 'CVE-2024-1000', 'CVE-2024-1002'))), {
    ...{ as_of: '2026-03-02', records: 2, added: 1, changed: 0, removed: 1, unchanged: 1 },
  })
  const stored = await versions('intel_kev')
  assert.deepEqual(stored[0], kept)
  assert.equal(stored.length, 2)
})

test('EPSS scores are read plain and compressed, and importing the same file again writes nothing', async () => {
  const text = scores('01', ['CVE-2024-1000,0.5,0.9', 'CVE-2024-1001,0.00042,0.1'])
  assert.equal((await epss(file('epss.csv.gz', gzipSync(text)))).added, 2)
  const stored = await versions('intel_epss')
  const again = await epss(file('epss.csv', text))
  assert.deepEqual([again.unchanged, again.added, again.changed, again.removed], [2, 0, 0, 0])
  assert.deepEqual(await versions('intel_epss'), stored)
  const next = await epss(file('epss.csv', scores('02', ['CVE-2024-1000,0.6,0.9', 'CVE-2024-1002,0.1,0.2'])))
  assert.deepEqual([next.as_of, next.added, next.changed, next.removed], ['2026-03-02', 1, 1, 1])
  assert.ok(printed.includes('Read all 2 EPSS scores'))
})

test('an error names the line or record of a broken file, and nothing is changed', async () => {
  await kev(file('kev.json', catalogue('01', 'CVE-2024-1000')))
  await epss(file('epss.csv', scores('01', ['CVE-2024-1000,0.5,0.9'])))
  await osv(file('osv.json', record('GHSA-1', ['CVE-2024-1000'])))
  const everything = async () => [
    await Promise.all(['intel_kev', 'intel_epss', 'intel_advisories', 'vulnerability_aliases'].map(versions)),
    await listSources(api.services.sql),
  ]
  const before = await everything()
  await refuses(kev(file('kev.json', catalogue('02', 'x'))), /kev\.json: vulnerabilities\[0\] has no/)
  const broken = scores('02', ['CVE-2024-1002,much,0.9'])
  await refuses(epss(file('epss.csv', broken)), /epss\.csv: Line 3: "much" is not a number/)
  const cut = gzipSync(scores('02', ['CVE-2024-1001,0.5,0.9'])).subarray(0, -12)
  await refuses(epss(file('epss.csv.gz', cut)), /epss\.csv\.gz: The file cannot be decompressed/)
  mkdirSync(join(directory, 'broken'))
  file('broken/one.json', record('GHSA-1', ['CVE-2024-1001'], '02'))
  file('broken/two.json', { id: 'GHSA-2' })
  await refuses(osv(join(directory, 'broken')), /two\.json: GHSA-2 has no valid modified time/)
  assert.deepEqual(await everything(), before)
})

test('a file that is older than the stored data is refused', async () => {
  await kev(file('kev.json', catalogue('02', 'CVE-2024-1000')))
  await refuses(
    kev(file('kev.json', catalogue('01', 'CVE-2024-1001'))),
    /dated 2026-03-01, which is older than the stored data \(2026-03-02\)/,
  )
  assert.equal((await versions('intel_kev')).length, 1)
})

test('of two equal imports at the same time, one adds the record and the other changes nothing', async () => {
  const paths = {
    kev: file('kev.json', catalogue('01', 'CVE-2024-1000')),
    epss: file('epss.csv', scores('01', ['CVE-2024-1000,0.5,0.9'])),
    osv: file('osv.json', record('GHSA-1', ['CVE-2024-1000'])),
  }
  for (const twins of [
    await Promise.all([kev(paths.kev), kev(paths.kev)]),
    await Promise.all([epss(paths.epss), epss(paths.epss)]),
    await Promise.all([osv(paths.osv), osv(paths.osv)]),
  ]) {
    assert.deepEqual(twins.map(({ added }) => added).sort(), [0, 1])
    assert.deepEqual(
      twins.map(({ changed }) => changed),
      [0, 0],
    )
  }
})

test('OSV records are read from a file, a directory and a zip file; an older record changes nothing', async () => {
  mkdirSync(join(directory, 'records/npm'), { recursive: true })
  file('records/npm/a.json', record('GHSA-1', ['CVE-2024-1000'], '02'))
  file('records/readme.txt', 'no record')
  const zip = file(
    'all.zip',
    zipFile({ 'GHSA-1.json': record('GHSA-1', [], '01'), 'GO-1.json': record('GO-1', ['GHSA-1']), 'list.csv': {} }),
  )
  assert.equal((await osv(join(directory, 'records'))).added, 1)
  const stored = await versions('intel_advisories')
  const outcome = await osv(zip, file('one.json', record('DEBIAN-CVE-2024-7')))
  assert.deepEqual(outcome, { as_of: '2026-03-02', records: 3, added: 2, changed: 0, removed: 0, unchanged: 1 })
  assert.deepEqual((await versions('intel_advisories'))[1], stored[0])
  assert.deepEqual(await groups(), {
    'CVE-2024-1000': 'CVE-2024-1000',
    'GHSA-1': 'CVE-2024-1000',
    'GO-1': 'CVE-2024-1000',
  })
})

test('an import of exactly two full batches of OSV records is complete', async () => {
  const files = Array.from({ length: 400 }, (_, at) => [`${at}.json`, record(`GO-${at}`)] as const)
  assert.equal((await osv(file('full.zip', zipFile(Object.fromEntries(files))))).added, 400)
})

test('a zip file that is broken or empty, or has an entry with a path outside of it, is refused', async () => {
  const whole = zipFile({ 'a.json': record('GHSA-1') })
  await refuses(osv(file('cut.zip', whole.subarray(0, -30))), /cut\.zip cannot be read as a zip file/)
  const damaged = Buffer.from(whole)
  damaged[40] = (damaged[40] ?? 0) ^ 0xff
  await refuses(osv(file('damaged.zip', damaged)), /damaged\.zip: a\.json cannot be read/)
  await refuses(osv(file('outside.zip', zipFile({ '../a.json': record('GHSA-1') }))), /outside\.zip cannot be read/)
  await refuses(osv(file('none.zip', zipFile({ 'a.txt': {} }))), /none\.zip contains no OSV records/)
  await refuses(osv(file('bomb.zip', zipFile({ 'a.json': 'x'.repeat(33 * 1024 * 1024) }))), /a\.json is larger than/)
  assert.deepEqual(await versions('intel_advisories'), [])
})

test('a changed record withdraws its aliases, and their group splits', async () => {
  await osv(file('a.json', record('GO-1', ['CVE-2024-1000', 'GHSA-1'])), file('b.json', record('GHSA-2', ['GHSA-3'])))
  const untouched = (await versions('vulnerability_aliases')).slice(2, 4)
  assert.equal((await osv(file('a.json', record('GO-1', ['GHSA-1'], '02')))).changed, 1)
  assert.deepEqual(await groups(), { 'GHSA-1': 'GHSA-1', 'GHSA-2': 'GHSA-2', 'GHSA-3': 'GHSA-2', 'GO-1': 'GHSA-1' })
  assert.deepEqual((await versions('vulnerability_aliases')).slice(1, 3), untouched)
  await osv(file('a.json', record('GO-1', ['GHSA-1', 'GHSA-3', 'CVE-2023-1000'], '03')))
  assert.deepEqual(new Set(Object.values(await groups())), new Set(['CVE-2023-1000']))
  await osv(file('a.json', record('GO-1', [], '04')))
  assert.deepEqual(await groups(), { 'GHSA-2': 'GHSA-2', 'GHSA-3': 'GHSA-2' })
  assert.deepEqual(await countAliases(api.services.sql), { ids: 2, groups: 1 })
})

test('intel import and intel status print counts and dates, and an error in one line', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-intel-data-'))
  const running = await startProgram(dataDir)
  const run = (...args: string[]) => runProgram(dataDir, ['intel', ...args])
  try {
    const path = file('kev.json', catalogue('01', 'CVE-2024-1000'))
    const imported = await run('import', '--kev', path, '--json')
    assert.deepEqual(imported.json, {
      kev: { as_of: '2026-03-01', records: 1, added: 1, changed: 0, removed: 0, unchanged: 0 },
    })
    assert.match(imported.stderr, /^Read all 1 KEV entries$/m)
    const { json } = await run('status', '--json')
    assert.equal(typeof json.kev.imported_at, 'string')
    assert.deepEqual(
      { ...json.kev, imported_at: '' },
      { as_of: '2026-03-01', version: '1', records: 1, imported_at: '' },
    )
    assert.deepEqual(json.epss, { as_of: null, version: null, records: 0, imported_at: null })
    assert.deepEqual(json.aliases, { ids: 0, groups: 0 })
    const none = await run('import')
    assert.deepEqual([none.code, none.stdout], [2, ''])
    assert.match(none.stderr, /^Specify at least one file with --kev, --epss or --osv/)
    const broken = await run('import', '--epss', file('epss.csv', 'x'))
    assert.equal(broken.code, 1)
    assert.match(broken.stderr, /epss\.csv: Line 1: expected a score_date/)
  } finally {
    await running.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

/** A zip file of these JSON documents (APPNOTE.TXT §4.3). */
function zipFile(entries: Record<string, unknown>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(JSON.stringify(content))
    const packed = deflateRawSync(bytes)
    const sizes = [crc32(bytes), packed.length, bytes.length]
    const nameBytes = Buffer.from(name)
    const shared = [...u16(20, 0, 8, 0, 0), ...u32(...sizes), ...u16(nameBytes.length, 0)]
    const local = Buffer.concat([Buffer.from([...u32(0x04034b50), ...shared]), nameBytes, packed])
    const rest = [...u16(0, 0, 0), ...u32(0, offset)]
    directory.push(Buffer.from([...u32(0x02014b50), ...u16(20), ...shared, ...rest]), nameBytes)
    parts.push(local)
    offset += local.length
  }
  const listing = Buffer.concat(directory)
  const count = parts.length
  const end = Buffer.from([...u32(0x06054b50), ...u16(0, 0, count, count), ...u32(listing.length, offset), ...u16(0)])
  return Buffer.concat([...parts, listing, end])
}

function u16(...values: number[]): number[] {
  return values.flatMap((value) => [value & 0xff, value >> 8])
}

function u32(...values: number[]): number[] {
  return values.flatMap((value) => [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24])
}
