import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { onlyIssue } from '../../../../support/issues.ts'
import { storeResults, testListContract } from '../../../../support/list-contract.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { link } from '../../../../support/repositories.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
testListContract({
  path: '/v1/security/findings',
  limitDefault: 100,
  limitMax: 1000,
  hasWindow: false,
  plan: 'team',
  retentionDays: 90,
  filters: [{ repository: 'acme/app' }, { repository: 'acme/other' }],
  store: storeResults,
  end: async ({ services: { sql } }, { orgId }) => {
    await sql`
      update findings
      set reported_state = 'fixed', last_seen_at = created_at, updated_at = created_at
      where org_id = ${orgId}`
  },
})

beforeEach(async () => {
  caller = await api.caller()
})

const get = (query = '', { key }: Caller = caller) => api.request('GET', `/v1/security/findings${query}`, { key })
const results = (count: number) => Array.from({ length: count }, (_, index) => sarifResult(`r${index}`))

/** A result with something in every field that a SARIF can fill. */
const FULL = sarifResult('java/sqli', 7, {
  message: { text: 'Query built from user input\nSee the guide.' },
  hostedViewerUri: 'https://scanner.example/finding/1',
  suppressions: [{ kind: 'inSource', justification: 'reviewed' }],
  properties: { 'security-severity': '9.3', tags: ['external/cwe/cwe-089'] },
})

test('every field of a raw finding', async () => {
  await link(api, caller, { provider: 'github', id: '11', name: 'acme/app' })
  const options = { category: 'sast', gitRef: 'refs/heads/main', commitSha: 'abcdef0123' }
  const upload = await uploadReport(api, caller, sarif([FULL], 'CodeScanner'), options)
  const [{ id, issue_id, upload_id, ...finding }] = (await get()).body.data
  assert.equal(upload_id, upload.id)
  assert.equal(issue_id, (await onlyIssue(api, caller)).id)
  assert.match(id, /^[0-9a-f-]{36}$/)
  const at = api.clock.now().toISOString()
  assert.deepEqual(finding, {
    origin: 'upload',
    source: 'sarif',
    scanner: 'CodeScanner',
    scanner_version: '1.0.0',
    kind: 'code',
    type: null,
    severity: 'critical',
    state: 'dismissed',
    title: 'Query built from user input',
    description: 'Query built from user input\nSee the guide.',
    native_url: 'https://scanner.example/finding/1',
    repository: 'acme/app',
    provider: 'github',
    repository_id: '11',
    commit_sha: 'abcdef0123',
    git_ref: 'refs/heads/main',
    category: 'sast',
    tracked: true,
    location: { path: 'src/java/sqli.ts', start_line: 7, end_line: 7 },
    package_name: null,
    package_version: null,
    fixed_version: null,
    purl: null,
    vuln_ids: [],
    cwes: ['CWE-89'],
    rule_id: 'java/sqli',
    secret_type: null,
    resource_name: null,
    first_seen_at: at,
    last_seen_at: at,
    identity: { method: 'new', matched_from: null, at },
    grouping_reason: { code: 'single', detail: 'No other finding in the repository matches this one.', at },
    category_reason: null,
    preview: false,
    dismiss_reason: 'suppressed_in_source',
    dismiss_comment: 'reviewed',
    dismissed_by_name: 'scanner report',
    dismissed_at: at,
    dismissal_source: 'report',
    dismissal_expires_at: null,
    dismissal_ended: null,
    triage_id: null,
    intel: {
      canonical_id: null,
      kev: null,
      epss: null,
      cvss: null,
      advisory_severity: null,
      withdrawn: null,
      fix_available: false,
      as_of: { kev: null, epss: null, advisory: null },
    },
    intel_at_detection: {
      at,
      severity: 'critical',
      scanner_score: 9.3,
      cvss: null,
      epss: null,
      kev: null,
      fix_available: false,
      backfilled: false,
    },
  })
})

test('findings and uploads match openapi.json', async () => {
  const document = (await api.request('GET', '/v1/openapi.json')).body
  const ajv = new Ajv2020({ strict: false })
  ajv.addFormat('date-time', fullFormats['date-time'])
  ajv.addSchema(document, 'openapi.json')
  const validate = (schema: string, value: unknown) => {
    assert.ok(ajv.validate({ $ref: `openapi.json#/components/schemas/${schema}` }, value), ajv.errorsText())
  }
  validate('SecurityUpload', await uploadReport(api, caller, sarif([FULL, sarifResult('plain')])))
  validate('SecurityUpload', await uploadReport(api, caller, 'broken'))
  const findings = await listFindings(api, caller)
  assert.equal(findings.length, 2)
  for (const finding of findings) validate('Finding', finding)
  assert.throws(() => validate('Finding', { ...findings[0], state: 'closed' }))
})

test('100 findings by default, 1..1000 by limit, 400 beyond', async () => {
  await uploadReport(api, caller, sarif(results(1001)))
  assert.equal((await get()).body.data.length, 100)
  assert.equal((await get('?limit=1')).body.data.length, 1)
  const page = (await get('?limit=1000')).body
  assert.equal(page.data.length, 1000)
  assert.equal((await get(`?limit=1000&cursor=${page.next_cursor}`)).body.data.length, 1)
})

test('newest first; pages follow each other without a gap or a repeat, also while reports arrive', async () => {
  await uploadReport(api, caller, sarif(results(7), 'First'))
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif(results(4), 'Second'))
  const expected = (await listFindings(api, caller)).map(({ id }) => id)
  assert.deepEqual((await listFindings(api, caller)).map(({ scanner }) => scanner).slice(3, 5), ['Second', 'First'])
  const seen: string[] = []
  let query = '?limit=3'
  for (let pages = 0; pages < 10; pages += 1) {
    const { data, next_cursor } = (await get(query)).body
    seen.push(...data.map(({ id }: { id: string }) => id))
    if (next_cursor === null) break
    query = `?limit=3&cursor=${next_cursor}`
    api.clock.advance(1)
    await uploadReport(api, caller, sarif(results(2), `Later ${pages}`))
  }
  assert.deepEqual(seen, expected)
})

test('403 without read:security, 402 on free, 200 on team', async () => {
  const writer = await api.caller({ scopes: ['write:security-findings'] })
  assert.equal((await get('', writer)).text, '{"message":"Forbidden"}')
  assertError(await get('', await api.caller({ plan: 'free' })), 402, 'plan_required')
  assert.equal((await get('', await api.caller({ plan: 'team' }))).status, 200)
})
