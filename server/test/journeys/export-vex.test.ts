import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { assertError } from '../support/assert-error.ts'
import { listFindings } from '../support/findings.ts'
import { createPerson, requestAs } from '../support/people.ts'
import { uploadReport } from '../support/reports.ts'
import { dismissAll } from '../support/triage.ts'
import { csaf, notAffected, openVex, vulnerable } from '../support/vex.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const schema = (file: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/schemas/${file}.schema.json`, import.meta.url), 'utf8'))

const FORMATS = ['uri', 'iri', 'iri-reference', 'date-time', 'idn-email', 'email']
/** `ajv-formats` does not know the international formats. */
const formats = Object.fromEntries(FORMATS.map((name) => [name, fullFormats[name as 'uri'] ?? true]))
const options = { strict: false, formats }
const validOpenVex = new Ajv2020(options).compile(schema('openvex-0.2.0'))
const validCycloneDx = new Ajv(options)
  .addSchema(schema('jsf-0.82.SNAPSHOT'), 'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json')
  .addSchema(schema('spdx.SNAPSHOT'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json')
  .compile(schema('bom-1.6.SNAPSHOT'))

type Exported = { vulnerability: { name: string }; status: string }
type Assessed = { analysis: { state: string } }

async function exported(format: 'openvex' | 'cyclonedx', query = '') {
  const path = `/v1/security/vex?repository=acme/app&format=${format}${query}`
  const { status, body, text } = await api.request('GET', path, { key: caller.key })
  assert.equal(status, 200, text)
  const isValid = format === 'openvex' ? validOpenVex : validCycloneDx
  if (format === 'cyclonedx' || body.statements.length > 0) assert.ok(isValid(body), JSON.stringify(isValid.errors))
  return body
}

async function upload(file: object, given: Record<string, unknown> = {}) {
  api.clock.advance(1000)
  const uploaded = await uploadReport(api, caller, file, given)
  assert.equal(uploaded.status, 'finished', uploaded.error)
}

const LODASH = 'pkg:npm/lodash@4.17.20'
const SCOPED = 'pkg:npm/%40acme/ui@1.0.0'
const ID = 'CVE-2021-23337'

const STATEMENTS = openVex([
  { ...notAffected(ID, [LODASH]), vulnerability: { name: ID, aliases: ['GHSA-35jh-r3h4-6jhm'] } },
  notAffected('CVE-2020-1001', [SCOPED], { justification: undefined, impact_statement: 'Not “called”.' }),
  { ...notAffected('CVE-2020-1002', [LODASH]), status: 'fixed', justification: undefined },
  {
    ...notAffected('CVE-2020-1003', [LODASH]),
    status: 'affected',
    justification: undefined,
    action_statement: 'Update.',
  },
  { ...notAffected('CVE-2020-1004', [LODASH]), status: 'under_investigation', justification: undefined },
])
const REPORT = vulnerable({
  [LODASH]: [ID, 'CVE-2020-1002', 'CVE-2020-1003', 'CVE-2020-1004', 'CVE-2020-1005'],
  [SCOPED]: 'CVE-2020-1001',
})

test('imported statements are exported in both formats, and validate', async () => {
  await upload(REPORT)
  await upload(STATEMENTS)
  const document = await exported('openvex')
  const statuses = document.statements.map(({ vulnerability, status }: Exported) => [vulnerability.name, status])
  assert.deepEqual(statuses, [
    ['CVE-2020-1001', 'not_affected'],
    ['CVE-2020-1002', 'fixed'],
    ['CVE-2020-1003', 'affected'],
    ['CVE-2020-1004', 'under_investigation'],
    [ID, 'not_affected'],
  ])
  assert.equal(document.statements[0].impact_statement, 'Not “called”.')
  assert.equal(document.statements[4].timestamp, '2024-05-01T00:00:00.000Z')
  assert.equal(document.statements[4].justification, 'vulnerable_code_not_in_execute_path')
  const bom = await exported('cyclonedx')
  assert.deepEqual(
    bom.vulnerabilities.map(({ analysis }: Assessed) => analysis.state),
    ['not_affected', 'resolved', 'exploitable', 'in_triage', 'not_affected'],
  )
  assert.deepEqual([bom.serialNumber, bom.version], [document['@id'], document.version])
})

test('what a person dismissed is exported with the status that the reason means', async () => {
  const expected = {
    false_positive: ['not_affected', 'false_positive'],
    used_in_tests: ['not_affected', 'not_affected'],
    mitigated: ['not_affected', 'not_affected'],
    wont_fix: ['affected', 'exploitable'],
    risk_accepted: ['affected', 'exploitable'],
  }
  for (const [reason, [status, state]] of Object.entries(expected)) {
    caller = await api.caller()
    await upload(vulnerable({ [LODASH]: ID }))
    await dismissAll(api, caller.orgId, { reason, comment: reason === 'mitigated' ? null : 'Because of it.' })
    const [statement] = (await exported('openvex')).statements
    assert.equal(statement.status, status)
    const texts = [statement.impact_statement, statement.action_statement, statement.status_notes]
    if (reason !== 'mitigated') assert.ok(texts.includes('Because of it.'))
    assert.equal((await exported('cyclonedx')).vulnerabilities[0].analysis.state, state)
  }
})

test('the version grows with each change and only then; the id stays', async () => {
  await upload(REPORT)
  const none = await exported('openvex')
  assert.deepEqual([none.version, none.statements], [1, []])
  api.clock.advance(60_000)
  assert.deepEqual(await exported('openvex'), none)
  await upload(STATEMENTS)
  const changed = await exported('openvex')
  assert.deepEqual([changed['@id'], changed.timestamp, changed.version], [none['@id'], none.timestamp, 2])
  assert.ok(changed.last_updated > none.last_updated)
  assert.equal((await exported('cyclonedx')).version, 2)
})

test('an exported document has the same effect in another organization', async () => {
  await upload(REPORT)
  await upload(STATEMENTS)
  const document = await exported('openvex')
  const states = async () =>
    (await listFindings(api, caller))
      .map(({ purl, rule_id, state, dismiss_reason, dismiss_comment }) =>
        JSON.stringify([purl, rule_id, state, dismiss_reason, dismiss_comment]),
      )
      .sort()
  const before = await states()
  caller = await api.caller()
  await upload(REPORT)
  await upload(document)
  assert.deepEqual(await states(), before)
  const again = await exported('openvex')
  assert.deepEqual(again.statements, document.statements)
})

test('a CSAF statement is exported, too', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await upload(csaf({ p: LODASH }, [{ cve: ID, product_status: { fixed: ['p'] } }]))
  assert.equal((await exported('openvex')).statements[0].status, 'fixed')
})

test('a package is left out if only one of its findings was assessed', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await dismissAll(api, caller.orgId, { reason: 'false_positive' })
  await upload(vulnerable({ [LODASH]: ID }, 'trivy'))
  const states = (await listFindings(api, caller)).map(({ state }) => state)
  const { statements } = await exported('openvex')
  assert.equal(statements.length, states.includes('open') ? 0 : 1)
})

test('a person who is signed in gets the document', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const person = await createPerson(api, { ...caller, role: 'viewer' })
  const { status, body } = await requestAs(api, person, 'GET', '/security/vex?repository=acme/app')
  assert.deepEqual([status, body], [200, await exported('openvex')])
})

test('only repositories of the organization are found', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const stranger = await api.caller()
  const get = (path: string, key: string) => api.request('GET', `/v1/security/vex${path}`, { key })
  assertError(await get('?repository=acme/app', stranger.key), 404, 'not_found')
  assertError(await get('?repository=acme/none', caller.key), 404, 'not_found')
  assertError(await get('', caller.key), 400, 'invalid_request')
  assertError(await get('?repository=acme/app&format=csaf', caller.key), 400, 'invalid_request')
})
