import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, test } from 'node:test'
import { Ajv } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import type { Json } from '../../../support/json.ts'
import { uploadReport } from '../../../support/reports.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const readSchema = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/schemas/${file}.schema.json`, import.meta.url), 'utf8'))
const FORMATS = ['uri', 'iri', 'iri-reference', 'date-time', 'idn-email', 'email']
const formats = Object.fromEntries(FORMATS.map((name) => [name, fullFormats[name as 'uri'] ?? true]))
const ajv = new Ajv({ strict: false, formats })
  .addSchema(readSchema('jsf-0.82.SNAPSHOT'), 'http://cyclonedx.org/schema/jsf-0.82.SNAPSHOT.schema.json')
  .addSchema(readSchema('spdx.SNAPSHOT'), 'http://cyclonedx.org/schema/spdx.SNAPSHOT.schema.json')
const validate = { cyclonedx: ajv.compile(readSchema('bom-1.6.SNAPSHOT')), spdx: ajv.compile(readSchema('spdx-2.3')) }

const ask = (query: string) => api.request('GET', `/v1/security/sbom?repository=acme/app${query}`, { key: caller.key })
async function getSbom(format: 'cyclonedx' | 'spdx', query = ''): Promise<Json> {
  const { status, body, text } = await ask(`&format=${format}${query}`)
  assert.equal(status, 200, text)
  assert.ok(validate[format](body), JSON.stringify(validate[format].errors))
  return body
}
const upload = (document: object, fields: Json = {}) => uploadReport(api, caller, JSON.stringify(document), fields)
const fixture = (path: string) => readFileSync(new URL(`../../../fixtures/${path}`, import.meta.url))

const AT = { commitSha: 'a'.repeat(40), category: 'main' }
const LODASH = 'pkg:npm/lodash@4.17.20'
const ROOT = { 'bom-ref': 'app', type: 'application', name: 'app' }
const documentOf = (components: object[], dependencies: object[] = [], rest: object = {}) => ({
  ...{ bomFormat: 'CycloneDX', specVersion: '1.6', metadata: { component: ROOT, tools: [{ name: 'syft' }] } },
  components: components.map((component) => ({ type: 'library', name: 'as the purl says', ...component })),
  dependencies,
  ...rest,
})

test('the documents of all categories are one, and each component names where it comes from', async () => {
  const licensed = { licenses: [{ license: { id: 'MIT' } }] }
  await upload(
    documentOf(
      [
        { 'bom-ref': 'a', purl: LODASH, ...licensed, hashes: [{ alg: 'SHA-256', content: 'a'.repeat(64) }] },
        { 'bom-ref': 'b', purl: 'pkg:npm/%40acme/ui@1.0.0', licenses: [{ license: { name: 'Our own license' } }] },
      ],
      [
        { ref: 'app', dependsOn: ['b'] },
        { ref: 'b', dependsOn: ['a'] },
      ],
    ),
    { category: 'web' },
  )
  await upload(documentOf([{ purl: LODASH, scope: 'excluded' }]), { category: 'worker' })
  const { components, dependencies, metadata } = await getSbom('cyclonedx')
  assert.equal(metadata.component.name, 'acme/app')
  assert.deepEqual(
    components.map(({ purl, licenses, properties }: Json) => [
      purl,
      licenses,
      properties.map(({ value }: Json) => value),
    ]),
    [
      ['pkg:npm/%40acme/ui@1.0.0', [{ license: { name: 'Our own license' } }], ['web']],
      [LODASH, [{ expression: 'MIT' }], ['web', 'worker']],
    ],
  )
  assert.deepEqual(
    components.map(({ group, name }: Json) => [group, name]),
    [
      ['@acme', 'ui'],
      [undefined, 'lodash'],
    ],
  )
  assert.deepEqual(dependencies, [
    { ref: 'pkg:npm/%40acme/ui@1.0.0', dependsOn: [LODASH] },
    { ref: 'repository', dependsOn: ['pkg:npm/%40acme/ui@1.0.0'] },
  ])
  const worker = await getSbom('spdx', '&category=worker')
  assert.deepEqual(
    worker.packages.map(({ name }: Json) => name),
    ['acme/app', 'lodash'],
  )
})

test('the same contents give the same bytes, in whatever order the documents came', async () => {
  const [first, second] = [documentOf([{ purl: LODASH }]), documentOf([{ purl: 'pkg:npm/ms@2.0.0' }])]
  const texts: string[] = []
  for (const order of [
    [first, second],
    [second, first],
  ]) {
    for (const document of order) await upload(document, { category: document === first ? 'one' : 'two' })
    const { body } = await ask('&format=cyclonedx')
    texts.push(JSON.stringify({ ...body, serialNumber: '' }))
    const again = await ask('&format=cyclonedx')
    assert.equal(again.body.serialNumber, body.serialNumber)
    caller = await api.caller()
  }
  assert.equal(texts[0], texts[1])
})

for (const path of ['cyclonedx/trivy.json', 'cyclonedx/assembly-1.6.json', 'spdx/syft.json', 'spdx/example-2.3.json'])
  test(`what is stored of ${path} is a valid document of both formats`, async () => {
    await uploadReport(api, caller, fixture(path), {})
    const { components } = await getSbom('cyclonedx', '&vulnerabilities=true')
    const { packages } = await getSbom('spdx', '&vulnerabilities=true')
    assert.ok(components.length > 0)
    assert.equal(packages.length, components.length + 1)
  })

test('findings are named on request, and what is fixed is not', async () => {
  const vulnerability = { id: 'CVE-2021-23337', ratings: [{ severity: 'high' }], affects: [{ ref: 'a' }] }
  const rest = { vulnerabilities: [vulnerability] }
  await upload(documentOf([{ 'bom-ref': 'a', purl: LODASH }], [], rest))
  const { vulnerabilities } = await getSbom('cyclonedx', '&vulnerabilities=true')
  assert.deepEqual(
    vulnerabilities.map(({ id, affects }: Json) => [id, affects]),
    [['CVE-2021-23337', [{ ref: LODASH }]]],
  )
  const { packages } = await getSbom('spdx', '&vulnerabilities=true')
  assert.ok(JSON.stringify(packages).includes('https://osv.dev/vulnerability/CVE-2021-23337'))
  assert.equal((await getSbom('cyclonedx')).vulnerabilities, undefined)
  api.clock.advance(1000)
  await upload(documentOf([{ 'bom-ref': 'a', purl: LODASH }], [], { vulnerabilities: [] }), { complete: true })
  assert.deepEqual((await getSbom('cyclonedx', '&vulnerabilities=true')).vulnerabilities, [])
})

test('other branches and strangers are not in the document; unknown repositories are refused', async () => {
  await upload(documentOf([{ purl: LODASH }]), { ...AT, gitRef: 'refs/heads/main' })
  await upload(documentOf([{ purl: 'pkg:npm/ms@2.0.0' }]), { ...AT, gitRef: 'refs/pull/7/merge' })
  assert.deepEqual(
    (await getSbom('cyclonedx')).components.map(({ purl }: Json) => purl),
    [LODASH],
  )
  const unknown = await api.request('GET', '/v1/security/sbom?repository=acme/none', { key: caller.key })
  assertError(unknown, 404, 'not_found')
  const stranger = await api.caller()
  const foreign = await api.request('GET', '/v1/security/sbom?repository=acme/app', { key: stranger.key })
  assertError(foreign, 404, 'not_found')
  assertInvalid(await api.request('GET', '/v1/security/sbom', { key: caller.key }), '/query/repository')
  assertInvalid(await ask('&format=xml'), '/query/format')
})
