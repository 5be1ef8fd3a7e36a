import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { importOsv } from '../../../../../src/security/intel/import-osv.ts'
import { importEpss, importKev } from '../../../../../src/security/intel/import-source.ts'
import { updateIntelAtDetection } from '../../../../../src/security/intel/intel-at-detection.store.ts'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { listFindings } from '../../../../support/findings.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'

const V31 = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'

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

const silent = () => {}

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

async function importScores(date: string, ...scores: string[]): Promise<void> {
  const csv = [`#model_version:v1,score_date:${date}`, 'cve,epss,percentile', ...scores].join('\n')
  await importEpss(api.services, file('epss.csv', `${csv}\n`), silent)
}

async function importCatalogue(released: string, cveID: string, dateAdded: string): Promise<void> {
  const entry = { cveID, dateAdded, dueDate: '2030-01-01', knownRansomwareCampaignUse: 'Unknown' }
  const catalogue = { dateReleased: released, vulnerabilities: [entry] }
  await importKev(api.services, file('kev.json', JSON.stringify(catalogue)), silent)
}

async function report(caller: Caller, ...ids: string[]): Promise<void> {
  const components = [{ type: 'library', 'bom-ref': 'c', name: 'lib', purl: 'pkg:npm/lib@1.5.0' }]
  const vulnerabilities = ids.map((id) => ({ id, affects: [{ ref: 'c' }] }))
  await uploadReport(api, caller, {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    components,
    vulnerabilities,
  })
}

async function detectedOf(caller: Caller, id: string) {
  const findings = await listFindings(api, caller)
  return findings.find(({ rule_id }) => rule_id === id).intel_at_detection
}

test('the intelligence at detection does not change with later imports', async () => {
  const caller = await api.caller()
  await importScores('2026-01-02', 'CVE-2026-1000,0.25,0.5')
  await importOsv(
    api.services,
    [
      file(
        'osv.json',
        JSON.stringify({
          id: 'CVE-2026-1000',
          modified: '2026-01-01T00:00:00Z',
          severity: [{ type: 'CVSS_V3', score: V31 }],
        }),
      ),
    ],
    silent,
  )
  await report(caller, 'CVE-2026-1000')
  const detected = await detectedOf(caller, 'CVE-2026-1000')
  assert.deepEqual(detected, {
    at: detected.at,
    severity: 'medium',
    scanner_score: null,
    cvss: { version: '3.1', score: 9.8, vector: V31 },
    epss: { score: 0.25, percentile: 0.5, date: '2026-01-02' },
    kev: null,
    fix_available: false,
    backfilled: false,
  })
  await importScores('2026-01-03', 'CVE-2026-1000,0.75,0.9')
  await drainQueue(api)
  assert.deepEqual(await detectedOf(caller, 'CVE-2026-1000'), detected)
})

test('unknown values are added by the next import, which sets backfilled', async () => {
  const caller = await api.caller()
  await report(caller, 'CVE-2026-2000')
  const unknown = await detectedOf(caller, 'CVE-2026-2000')
  assert.deepEqual([unknown.epss, unknown.kev, unknown.backfilled], [null, null, false])
  await importScores('2026-01-04', 'CVE-2026-2000,0.5,0.6')
  await drainQueue(api)
  const filled = await detectedOf(caller, 'CVE-2026-2000')
  assert.deepEqual(filled, {
    ...unknown,
    epss: { score: 0.5, percentile: 0.6, date: '2026-01-04' },
    backfilled: true,
  })
})

test('a vulnerability has a KEV entry at detection only if the entry had been added by then', async () => {
  const caller = await api.caller()
  await report(caller, 'CVE-2026-3000', 'CVE-2026-3001')
  await importCatalogue('2026-02-01T00:00:00Z', 'CVE-2026-3000', '2020-05-05')
  await importCatalogue('2026-02-02T00:00:00Z', 'CVE-2026-3001', '2999-05-05')
  await drainQueue(api)
  assert.equal((await detectedOf(caller, 'CVE-2026-3001')).kev, null)
  await importCatalogue('2026-02-03T00:00:00Z', 'CVE-2026-3000', '2020-05-05')
  await drainQueue(api)
  assert.deepEqual((await detectedOf(caller, 'CVE-2026-3000')).kev, { date_added: '2020-05-05' })
})

test('two backfills at the same instant both end, and fill everything once', async () => {
  const caller = await api.caller()
  await report(caller, 'CVE-2026-4000', 'CVE-2026-4001')
  await importScores('2026-02-05', 'CVE-2026-4000,0.1,0.2', 'CVE-2026-4001,0.2,0.3')
  await Promise.all([updateIntelAtDetection(api.services), updateIntelAtDetection(api.services)])
  await updateIntelAtDetection(api.services)
  for (const id of ['CVE-2026-4000', 'CVE-2026-4001']) assert.equal((await detectedOf(caller, id)).backfilled, true)
})
