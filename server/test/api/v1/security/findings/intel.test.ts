import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { importOsv } from '../../../../../src/security/intel/import-osv.ts'
import { importEpss, importKev } from '../../../../../src/security/intel/import-source.ts'
import { startTestApi, type TestApi } from '../../../../support/api.ts'
import { listFindings } from '../../../../support/findings.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, requestAs } from '../../../../support/people.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

const V31 = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'
const V4 = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N'

let api: TestApi
let directory: string

before(async () => {
  api = await startTestApi()
  directory = mkdtempSync(join(tmpdir(), 'shiplock-intel-'))
})
after(async () => {
  await api?.close()
  rmSync(directory, { recursive: true, force: true })
})

function file(name: string, content: string | object): string {
  const path = join(directory, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const silent = () => {}

async function importAdvisory(record: object): Promise<void> {
  const modified = api.clock.now().toISOString()
  await importOsv(api.services, [file('osv.json', { modified, ...record })], silent)
}

type Reported = { id: string; purl?: string; ratings?: object[]; recommendation?: string }

/**
 * What the list shows of findings that one report of an organization of their own makes, by the
 * vulnerability's id.
 */
async function intelOf(...reported: Reported[]): Promise<Record<string, ReturnType<typeof JSON.parse>>> {
  const caller = await api.caller()
  const components = reported.map(({ purl = 'pkg:npm/lib@1.5.0' }, at) => ({
    ...{ type: 'library', 'bom-ref': `c${at}`, name: 'lib', purl },
  }))
  const vulnerabilities = reported.map(({ purl: _, ...rest }, at) => ({ ...rest, affects: [{ ref: `c${at}` }] }))
  const bom = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components, vulnerabilities }
  await uploadReport(api, caller, bom)
  const findings = await listFindings(api, caller)
  return Object.fromEntries(findings.map(({ rule_id, intel }) => [rule_id, intel]))
}

test('a finding shows KEV, EPSS and the advisory of its vulnerability through its aliases, at once after an import', async () => {
  const caller = await api.caller()
  const bom = {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 },
    components: [{ type: 'library', 'bom-ref': 'c', name: 'log4j', purl: 'pkg:maven/org.apache/log4j@2.14.1' }],
    vulnerabilities: [{ id: 'GHSA-jfh8-c2jp-5v3q', affects: [{ ref: 'c' }] }],
  }
  await uploadReport(api, caller, bom)
  const show = async () => (await listFindings(api, caller))[0].intel
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  const sources = async () => (await requestAs(api, viewer, 'GET', '/security/intel')).body.data
  const never = { as_of: null, version: null, records: 0, imported_at: null, waiting_packages: 0 }
  assert.deepEqual(
    await sources(),
    ['epss', 'kev', 'osv'].map((source) => ({ source, ...never })),
  )
  assert.deepEqual(await show(), {
    canonical_id: 'GHSA-jfh8-c2jp-5v3q',
    kev: null,
    epss: null,
    cvss: null,
    advisory_severity: null,
    withdrawn: null,
    fix_available: false,
    as_of: { kev: null, epss: null, advisory: null },
  })

  const entry = { cveID: 'CVE-2021-44228', dateAdded: '2021-12-10', dueDate: '2021-12-24' }
  const kev = {
    dateReleased: '2026-03-01T12:00:00Z',
    vulnerabilities: [{ ...entry, knownRansomwareCampaignUse: 'Known' }],
  }
  await importKev(api.services, file('kev.json', kev), silent)
  const epss = '#model_version:v1,score_date:2026-03-02\ncve,epss,percentile\nCVE-2021-44228,0.94358,0.99956\n'
  await importEpss(api.services, file('epss.csv', epss), silent)
  const range = { type: 'ECOSYSTEM', events: [{ introduced: '2.0' }, { fixed: '2.15.0' }] }
  await importAdvisory({
    id: 'GHSA-jfh8-c2jp-5v3q',
    modified: '2026-02-03T04:05:06Z',
    aliases: ['CVE-2021-44228'],
    severity: [{ type: 'CVSS_V3', score: V31 }],
    database_specific: { severity: 'CRITICAL' },
    affected: [{ package: { ecosystem: 'Maven', name: 'org.apache:log4j' }, ranges: [range] }],
  })
  assert.deepEqual(await show(), {
    canonical_id: 'CVE-2021-44228',
    kev: { cve_id: 'CVE-2021-44228', date_added: '2021-12-10', due_date: '2021-12-24', ransomware: true },
    epss: { score: 0.94358, percentile: 0.99956, date: '2026-03-02' },
    cvss: { version: '3.1', score: 9.8, vector: V31 },
    advisory_severity: 'critical',
    withdrawn: false,
    fix_available: true,
    as_of: { kev: '2026-03-01', epss: '2026-03-02', advisory: '2026-02-03' },
  })
  assert.deepEqual(
    (await sources()).map(({ source, as_of, records }: Json) => [source, as_of, records]),
    [
      ['epss', '2026-03-02', 1],
      ['kev', '2026-03-01', 1],
      ['osv', '2026-02-03', 1],
    ],
  )
})

test('cvss is of the newest version that the report or the advisory has', async () => {
  await importAdvisory({ id: 'GHSA-cvss-cvss-0001', severity: [{ type: 'CVSS_V3', score: V31 }] })
  const report = (method: string, vector: string) => ({ ratings: [{ method, vector, severity: 'low' }] })
  const intel = await intelOf({ id: 'GHSA-cvss-cvss-0001', ...report('CVSSv4', V4) })
  assert.deepEqual(intel['GHSA-cvss-cvss-0001'].cvss, { version: '4.0', score: 9.3, vector: V4 })

  await importAdvisory({ id: 'GHSA-cvss-cvss-0002', severity: [{ type: 'CVSS_V4', score: V4 }] })
  const other = await intelOf({ id: 'GHSA-cvss-cvss-0002', ...report('CVSSv31', V31) })
  assert.deepEqual(other['GHSA-cvss-cvss-0002'].cvss, { version: '4.0', score: 9.3, vector: V4 })
})

test('withdrawn is true if every advisory of the vulnerability is withdrawn; otherwise withdrawn advisories are ignored', async () => {
  await importAdvisory({
    ...{ id: 'GHSA-with-draw-0001', aliases: ['CVE-2024-2000'], withdrawn: '2024-01-01T00:00:00Z' },
    database_specific: { severity: 'CRITICAL' },
  })
  assert.equal((await intelOf({ id: 'CVE-2024-2000' }))['CVE-2024-2000'].withdrawn, true)
  await importAdvisory({ id: 'GO-2024-2000', aliases: ['CVE-2024-2000'], database_specific: { severity: 'LOW' } })
  const intel = (await intelOf({ id: 'CVE-2024-2000' }))['CVE-2024-2000']
  assert.deepEqual([intel.withdrawn, intel.advisory_severity], [false, 'low'])
})

test('a fix is available if a fixed version of the same package is newer than the installed one', async () => {
  const range = (events: object[]) => ({ ranges: [{ type: 'SEMVER', events }] })
  const closed = range([{ introduced: '0' }, { fixed: '1.10.0' }])
  const partly = range([{ introduced: '0' }, { fixed: '1.10.0' }, { introduced: '2.0.0' }])
  const lib = { ecosystem: 'npm', name: 'lib' }
  await importAdvisory({ id: 'CVE-2024-3001', affected: [{ package: lib, ...closed }] })
  await importAdvisory({ id: 'CVE-2024-3002', affected: [{ package: lib, ...partly }] })
  await importAdvisory({
    id: 'CVE-2024-3003',
    affected: [{ package: { ecosystem: 'PyPI', name: 'my_lib' }, ...closed }],
  })
  const available = async (id: string, purl: string) => (await intelOf({ id, purl }))[id].fix_available
  assert.equal(await available('CVE-2024-3001', 'pkg:npm/lib@1.9.0'), true)
  assert.equal(await available('CVE-2024-3001', 'pkg:npm/other@1.9.0'), false)
  assert.equal(await available('CVE-2024-3001', 'pkg:pypi/lib@1.9.0'), false)
  assert.equal(await available('CVE-2024-3002', 'pkg:npm/lib@1.9.0'), true)
  assert.equal(await available('CVE-2024-3002', 'pkg:npm/lib@2.1.0'), false)
  assert.equal(await available('CVE-2024-3003', 'pkg:pypi/My.Lib@1.0'), true)
})

test('a fixed version that the report names is a fix, whatever is imported', async () => {
  const reported = { id: 'CVE-2024-3100', recommendation: 'Upgrade lib to version 1.6.0' }
  assert.equal((await intelOf(reported))['CVE-2024-3100'].fix_available, true)
})

test('intelligence is the same for every organization, and a finding of no vulnerability has none', async () => {
  await importAdvisory({ id: 'GHSA-same-same-0001', database_specific: { severity: 'HIGH' } })
  const [one, other] = [await intelOf({ id: 'GHSA-same-same-0001' }), await intelOf({ id: 'GHSA-same-same-0001' })]
  assert.equal(one['GHSA-same-same-0001'].advisory_severity, 'high')
  assert.deepEqual(one, other)
  const caller = await api.caller()
  await uploadReport(api, caller, sarif([sarifResult('rule')]))
  const [{ intel }] = await listFindings(api, caller)
  assert.deepEqual(
    [intel.canonical_id, intel.kev, intel.epss, intel.cvss, intel.withdrawn, intel.fix_available],
    [null, null, null, null, null, false],
  )
})
