import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { importKev } from '../../../src/security/intel/import-source.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { advisory, clearIntel, importRecords, LOG4J, listMatches, sendSbom } from '../../support/inventory.ts'
import { listIssues, onlyIssue } from '../../support/issues.ts'
import type { Json } from '../../support/json.ts'
import { drainQueue } from '../../support/queue.ts'
import { dismissAll } from '../../support/triage.ts'

let api: TestApi
let caller: Caller
let directory: string

before(async () => {
  api = await startTestApi()
  directory = mkdtempSync(join(tmpdir(), 'shiplock-kev-'))
})
after(async () => {
  await api?.close()
  rmSync(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  caller = await api.caller()
  await clearIntel(api.services)
})

const send = (parts: Parameters<typeof sendSbom>[2], options: Parameters<typeof sendSbom>[3] = {}) =>
  sendSbom(api, caller, parts, options)
const matches = () => listMatches(api, caller)
const states = async () =>
  (await matches()).map(({ vuln_ids, state, category_reason }: Json) => [vuln_ids[0], state, category_reason])
async function say(...records: object[]): Promise<void> {
  api.clock.advance(1000)
  await importRecords(api.services, ...records)
  await drainQueue(api)
}

async function sayExploited(id: string): Promise<void> {
  const vulnerabilities = [{ cveID: id, dateAdded: '2021-12-10' }]
  const path = join(directory, 'kev.json')
  const catalog = { catalogVersion: '1', dateReleased: '2026-03-01T00:00:00Z', vulnerabilities }
  writeFileSync(path, JSON.stringify(catalog))
  await importKev(api.services, path, () => {})
  await drainQueue(api)
}

const SEVERE = { severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' }] }
const LOG4SHELL = () =>
  advisory(
    'GHSA-jfh8-c2jp-5v3q',
    { ecosystem: 'Maven', name: 'org.apache.logging.log4j:log4j-core', fixed: '2.15.0' },
    { aliases: ['CVE-2021-44228'], ...SEVERE },
  )

const STEPS: Record<string, () => Promise<unknown>> = {
  document: () => send([`${LOG4J}@2.14.1`]),
  advisory: () => say(LOG4SHELL()),
  kev: () => sayExploited('CVE-2021-44228'),
}

for (const order of [
  'document advisory kev',
  'kev advisory document',
  'advisory document kev',
  'document kev advisory',
])
  test(`${order}: one critical, exploited issue`, async () => {
    for (const step of order.split(' ')) await STEPS[step]?.()
    const issue = await onlyIssue(api, caller)
    assert.deepEqual(
      [issue.severity, issue.status, issue.intel.kev?.cve_id, issue.member_count],
      ['critical', 'open', 'CVE-2021-44228', 1],
    )
  })

test('an advisory that is corrected or withdrawn ends its finding and says so; stated again, it goes on', async () => {
  await send(['pkg:npm/lodash@1.5.0', 'pkg:npm/moment@1.0.0'])
  await say(advisory('GHSA-1', {}), advisory('GHSA-2', { name: 'moment' }))
  const [first, second] = await matches()
  await say(
    advisory('GHSA-1', { fixed: '1.4.0' }),
    advisory('GHSA-2', { name: 'moment' }, { withdrawn: '2026-01-02T00:00:00Z' }),
  )
  assert.deepEqual(await states(), [
    ['GHSA-1', 'fixed', 'advisory_corrected'],
    ['GHSA-2', 'fixed', 'advisory_withdrawn'],
  ])
  await say(advisory('GHSA-1', {}), advisory('GHSA-2', { name: 'moment' }))
  assert.deepEqual(
    (await matches()).map(({ id, state }) => [id, state]),
    [
      [first.id, 'open'],
      [second.id, 'open'],
    ],
  )
})

test('an advisory that names another package ends the finding of the one before', async () => {
  await send(['pkg:npm/lodash@1.0.0', 'pkg:npm/moment@1.0.0'])
  await say(advisory('GHSA-1', {}))
  await say(advisory('GHSA-1', { name: 'moment' }))
  assert.deepEqual(
    (await matches()).map(({ package_name, state, category_reason }) => [package_name, state, category_reason]),
    [
      ['lodash', 'fixed', 'advisory_corrected'],
      ['moment', 'open', null],
    ],
  )
})

test('two advisories that turn out to be one vulnerability are one finding, with the triage of either', async () => {
  await send(['pkg:npm/lodash@1.0.0'])
  await say(advisory('GHSA-1', {}))
  const [older] = await matches()
  await say(advisory('PYSEC-2', { fixed: '3.0.0' }))
  const younger = (await matches()).find(({ vuln_ids }) => vuln_ids[0] === 'PYSEC-2') as Json
  await dismissAll(api, caller.orgId, { reason: 'mitigated' }, [younger.id])
  await say(advisory('GHSA-1', {}, { aliases: ['PYSEC-2'] }))
  const found = await matches()
  const byId = new Map(found.map((finding) => [finding.id, finding]))
  assert.equal(found.length, 2)
  assert.deepEqual([byId.get(younger.id).state === 'open', byId.get(younger.id).category_reason], [false, 'merged'])
  assert.deepEqual([byId.get(older.id).state, byId.get(older.id).vuln_ids], ['dismissed', ['GHSA-1', 'PYSEC-2']])
  assert.equal(byId.get(older.id).fixed_version, '3.0.0')
  assert.equal((await listIssues(api, caller)).filter(({ status: of }) => of === 'open').length, 0)
})

test('the severity follows any record of the vulnerability', async () => {
  await send(['pkg:npm/lodash@1.0.0'])
  await say(advisory('GHSA-1', {}, { aliases: ['CVE-2024-1'] }))
  assert.equal((await matches())[0]?.severity, 'medium')
  await say({ id: 'CVE-2024-1', modified: '2026-03-01T00:00:00Z', ...SEVERE })
  assert.equal((await matches())[0]?.severity, 'critical')
  assert.equal((await onlyIssue(api, caller)).severity, 'critical')
})

test('an import of unchanged records, and of other packages, writes no finding', async () => {
  await send(['pkg:npm/lodash@1.0.0'])
  const record = advisory('GHSA-1', {})
  await say(record)
  const version = async () => api.services.sql`select xmin::text from findings where org_id = ${caller.orgId}`
  const before = await version()
  await say(record)
  await say(advisory('GHSA-2', { name: 'other' }))
  assert.deepEqual([...(await version())], [...before])
})

test('organizations and branches have findings of their own', async () => {
  const other = await api.caller()
  await send(['pkg:npm/lodash@1.0.0'])
  await send(['pkg:npm/lodash@1.0.0'], { category: 'web' })
  await sendSbom(api, other, ['pkg:npm/lodash@1.0.0'])
  await say(advisory('GHSA-1', {}))
  assert.deepEqual(new Set((await matches()).map(({ category }) => category)), new Set([null, 'web']))
  assert.equal((await listMatches(api, other)).length, 1)
})
