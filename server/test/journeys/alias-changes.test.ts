import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { countAliases } from '../../src/security/intel/alias.store.ts'
import { importOsv } from '../../src/security/intel/import-osv.ts'
import { importEpss, importKev } from '../../src/security/intel/import-source.ts'
import { lockIntel } from '../../src/security/intel/intel-source.store.ts'
import { followIntel } from '../../src/security/issues/follow-changes.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { groupingOf, historyOf } from '../support/grouping.ts'
import { bom, listIssues, onlyIssue } from '../support/issues.ts'
import { drainQueue } from '../support/queue.ts'
import { uploadReport } from '../support/reports.ts'

const LODASH = 'pkg:npm/lodash@4.17.20'

let api: TestApi
let directory: string
let caller: Caller
let modified = 0

before(async () => {
  api = await startTestApi()
  directory = mkdtempSync(join(tmpdir(), 'shiplock-alias-'))
})
after(async () => {
  await api?.close()
  rmSync(directory, { recursive: true, force: true })
})
beforeEach(async () => {
  caller = await api.caller()
  const { sql } = api.services
  await sql`
    truncate intel_kev, intel_epss, intel_advisories, intel_affected, intel_fixes, vulnerability_assertions,
      vulnerability_aliases, vulnerability_alias_changes`
  await sql`update intel_sources set as_of = null`
})

function file(content: string | object): string {
  const path = join(directory, 'import')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** Imports one OSV record with these aliases. */
async function sayAliases(id: string, ...aliases: string[]): Promise<void> {
  modified += 1
  const record = { id, modified: new Date(Date.UTC(2026, 0, 1) + modified * 1000).toISOString(), aliases }
  await importOsv(api.services, [file(record)], () => {})
}

const upload = (tool: string, id: string, options = {}, of = caller) =>
  uploadReport(api, of, bom(tool, LODASH, [{ id }]), options)

async function kev(...ids: string[]): Promise<void> {
  const vulnerabilities = ids.map((cveID) => ({ cveID, dateAdded: '2026-01-02' }))
  await importKev(
    api.services,
    file({ catalogVersion: '1', dateReleased: '2026-03-01T00:00:00Z', vulnerabilities }),
    () => {},
  )
}

async function epss(...rows: string[]): Promise<void> {
  const text = ['#model_version:v1,score_date:2026-03-01', 'cve,epss,percentile', ...rows, ''].join('\n')
  await importEpss(api.services, file(text), () => {})
}

test('a new alias merges two issues into the older one and gives the reason; withdrawn, it splits them again', async () => {
  await upload('Grype', 'CVE-2024-1000')
  api.clock.advance(1000)
  await upload('Dependabot', 'GHSA-2222-2222-2222')
  const [younger, older] = await listIssues(api, caller)
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await drainQueue(api)
  const [joined, ...others] = await listIssues(api, caller)
  assert.deepEqual([others, joined.id, joined.member_count, joined.split_from], [[], older.id, 2, null])
  assert.deepEqual(joined.vuln_ids, ['CVE-2024-1000', 'GHSA-2222-2222-2222'])
  const merged = (await groupingOf(api, caller)).issues.find(({ id }) => id === younger.id)
  assert.deepEqual([merged?.merged_into, merged?.listed], [older.id, false])
  for (const { issue_id, grouping_reason } of await listFindings(api, caller)) {
    assert.deepEqual([issue_id, grouping_reason.code], [older.id, 'same_vulnerability'])
  }
  api.clock.advance(1000)
  await sayAliases('GHSA-2222-2222-2222')
  await drainQueue(api)
  const apart = await listIssues(api, caller)
  assert.deepEqual(
    apart.map((issue) => [issue.id, issue.vuln_ids, issue.member_count, issue.split_from]),
    [
      [younger.id, ['GHSA-2222-2222-2222'], 1, older.id],
      [older.id, ['CVE-2024-1000'], 1, null],
    ],
  )
  for (const { grouping_reason } of await listFindings(api, caller)) assert.equal(grouping_reason.code, 'single')
  assert.deepEqual(await historyOf(api, caller), [
    {
      ...{ event: 'merged', issue_id: younger.id, other_issue_id: older.id },
      detail: 'CVE-2024-1000 and GHSA-2222-2222-2222 are aliases (osv).',
    },
    {
      ...{ event: 'split', issue_id: apart[0].id, other_issue_id: older.id },
      detail: 'CVE-2024-1000 and GHSA-2222-2222-2222 are no longer aliases (osv).',
    },
  ])
})

test('issues of every organization and repository are merged, and issues of other packages are not', async () => {
  const other = await api.caller()
  for (const who of [caller, other]) {
    for (const repository of ['acme/one', 'acme/two']) {
      await upload('Grype', 'CVE-2024-1000', { repository }, who)
      await upload('Dependabot', 'GHSA-2222-2222-2222', { repository }, who)
    }
  }
  await uploadReport(api, caller, bom('Trivy', 'pkg:npm/other@1.0.0', [{ id: 'GHSA-2222-2222-2222' }]))
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await drainQueue(api)
  const counts = async (of: Caller) => (await listIssues(api, of)).map((issue) => issue.member_count).sort()
  assert.deepEqual(
    [await counts(caller), await counts(other)],
    [
      [1, 2, 2],
      [2, 2],
    ],
  )
})

test('an alias of an id with the prefix of a distribution merges its issues too', async () => {
  await upload('Trivy', 'DEBIAN-CVE-2024-1000')
  await upload('Dependabot', 'GHSA-2222-2222-2222')
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await drainQueue(api)
  assert.equal((await onlyIssue(api, caller)).intel.canonical_id, 'CVE-2024-1000')
})

test('aliases that change no group of findings write no finding and no issue', async () => {
  await upload('Grype', 'CVE-2024-1000')
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await drainQueue(api)
  const versions = async () => [
    ...(await api.services.sql`select id, xmin::text from security_issues where org_id = ${caller.orgId}`),
    ...(await api.services.sql`select id, xmin::text from findings where org_id = ${caller.orgId}`),
  ]
  const before = await versions()
  await sayAliases('PYSEC-1', 'CVE-2024-1000')
  await drainQueue(api)
  assert.deepEqual(await versions(), before)
})

test('an import of KEV and EPSS updates what issues are filtered by, through aliases, and writes only those', async () => {
  await upload('Dependabot', 'GHSA-2222-2222-2222')
  await upload('Grype', 'CVE-2024-2000')
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await drainQueue(api)
  const known = async () => {
    const { issues } = await groupingOf(api, caller)
    return Object.fromEntries(issues.map(({ canonical_id, kev, epss }) => [canonical_id, [kev, epss]]))
  }
  await kev('CVE-2024-1000')
  await epss('CVE-2024-1000,0.5,0.9', 'CVE-2024-2000,0.25,0.5')
  await drainQueue(api)
  assert.deepEqual(await known(), { 'CVE-2024-1000': [true, 0.5], 'CVE-2024-2000': [false, 0.25] })
  const version = async () => {
    const rows = await api.services.sql`
      select xmin::text
      from security_issues
      where org_id = ${caller.orgId}
        and canonical_id = 'CVE-2024-2000'`
    return rows[0]?.xmin
  }
  const before = await version()
  await epss('CVE-2024-2000,0.25,0.5')
  await kev('CVE-1999-0001')
  await drainQueue(api)
  assert.deepEqual(await known(), { 'CVE-2024-1000': [false, 0], 'CVE-2024-2000': [false, 0.25] })
  assert.equal(await version(), before)
})

test('reports that are read while aliases change are grouped by the new aliases', async () => {
  const repositories = ['acme/one', 'acme/two', 'acme/three', 'acme/four']
  await Promise.all([
    ...repositories.flatMap((repository) => [
      upload('Grype', 'CVE-2024-1000', { repository }),
      upload('Dependabot', 'GHSA-2222-2222-2222', { repository }),
    ]),
    sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000'),
  ])
  await drainQueue(api)
  const issues = await listIssues(api, caller)
  assert.deepEqual(
    issues.map(({ member_count }) => member_count),
    [2, 2, 2, 2],
  )
})

test('an import that changes aliases waits for reports that are being grouped by the old ones', async () => {
  const { sql } = api.services
  const waiting = () => sql`
    select from pg_locks
    where not granted
      and database = (select oid from pg_database where datname = current_database())
      and relation = 'vulnerability_aliases'::regclass`
  let importing: Promise<void> | undefined
  await sql.begin(async (tx) => {
    await lockIntel(tx)
    importing = sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
    while ((await waiting()).length === 0);
    assert.deepEqual(await countAliases(sql), { ids: 0, groups: 0 })
  })
  await importing
  assert.deepEqual(await countAliases(sql), { ids: 2, groups: 1 })
})

test('buckets that are due when a worker dies are regrouped by the next one', async () => {
  await upload('Grype', 'CVE-2024-1000')
  await upload('Dependabot', 'GHSA-2222-2222-2222')
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  const dying = {
    ...api.services,
    clock: {
      now: () => {
        throw new Error('killed')
      },
    },
  }
  await assert.rejects(followIntel(dying), /killed/)
  assert.equal((await listIssues(api, caller)).length, 2)
  await followIntel(api.services)
  await onlyIssue(api, caller)
  assert.deepEqual(await leftToRegroup(), { changes: 0, buckets: 0 })
})

test('two workers that follow the same import regroup its issues once and leave nothing due', async () => {
  await upload('Grype', 'CVE-2024-1000')
  await upload('Dependabot', 'GHSA-2222-2222-2222')
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await Promise.all([followIntel(api.services), followIntel(api.services)])
  assert.equal((await historyOf(api, caller)).length, 1)
  await onlyIssue(api, caller)
  assert.deepEqual(await leftToRegroup(), { changes: 0, buckets: 0 })
})

test('changes of aliases wait for a worker, however many imports come in before it', async () => {
  await upload('Grype', 'CVE-2024-1000')
  await upload('Dependabot', 'GHSA-2222-2222-2222')
  await sayAliases('GHSA-2222-2222-2222', 'CVE-2024-1000')
  await sayAliases('PYSEC-1', 'CVE-2024-1000')
  await kev('CVE-2024-1000')
  assert.deepEqual(await leftToRegroup(), { changes: 3, buckets: 0 })
  await drainQueue(api)
  assert.equal((await onlyIssue(api, caller)).intel.canonical_id, 'CVE-2024-1000')
  assert.deepEqual(await leftToRegroup(), { changes: 0, buckets: 0 })
})

async function leftToRegroup(): Promise<{ changes: number; buckets: number }> {
  const [left] = await api.services.sql<[{ changes: number; buckets: number }]>`
    select (select count(*) from vulnerability_alias_changes) as changes,
      (select count(*) from issue_regroup_due) as buckets`
  return left
}
