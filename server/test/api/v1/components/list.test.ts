import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
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

type Part = { purl: string; dependsOn?: string[] } & Record<string, unknown>

const ROOT = 'root'
/** A CycloneDX document whose components have their package URLs as references. */
const sbom = (parts: Part[], direct: string[] = []) =>
  JSON.stringify({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { 'bom-ref': ROOT, type: 'application', name: 'app' }, tools: [{ name: 'syft' }] },
    components: parts.map(({ dependsOn: _, ...part }) => ({
      'bom-ref': part.purl,
      type: 'library',
      name: 'as the purl says',
      ...part,
    })),
    dependencies: [
      { ref: ROOT, dependsOn: direct },
      ...parts.map(({ purl, dependsOn = [] }) => ({ ref: purl, dependsOn })),
    ],
  })
const send = (body: string, options: Record<string, unknown> = {}) => uploadReport(api, caller, body, options)
const list = async (query = '') => {
  const { status, body } = await api.request('GET', `/v1/components?${query}`, { key: caller.key })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}
const purls = async (query = '') => (await list(query)).map(({ purl }: { purl: string }) => purl).sort()
const occurrences = async (id: string) =>
  (await api.request('GET', `/v1/components/${id}/occurrences`, { key: caller.key })).body.data

const LOG4J = 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1'
const [A, B, C] = ['pkg:npm/%40acme/a@1.0.0', 'pkg:npm/b@2.0.0', 'pkg:npm/c@3.0.0'] as const

test('a component of many documents is one row with all of its repositories', async () => {
  await send(sbom([{ purl: LOG4J, licenses: [{ license: { id: 'Apache-2.0' } }] }], [LOG4J]))
  await send(sbom([{ purl: `${LOG4J}?type=jar` }]), { repository: 'acme/other' })
  const [component, ...others] = await list('package=org.apache.logging.log4j:log4j-core')
  assert.equal(others.length, 0)
  assert.deepEqual(
    { ...component, id: null, first_seen_at: null, last_seen_at: null },
    {
      id: null,
      purl: LOG4J,
      cpe: null,
      identity: 'purl',
      type: 'maven',
      ecosystem: 'Maven',
      namespace: 'org.apache.logging.log4j',
      name: 'org.apache.logging.log4j:log4j-core',
      version: '2.14.1',
      licenses: ['Apache-2.0'],
      direct: true,
      repositories: { count: 2, names: ['acme/app', 'acme/other'] },
      first_seen_at: null,
      last_seen_at: null,
    },
  )
  const { body } = await api.request('GET', `/v1/components/${component.id}`, { key: caller.key })
  assert.deepEqual(body.data.occurrences.map(({ repository }: { repository: string }) => repository).sort(), [
    'acme/app',
    'acme/other',
  ])
})

test('filters select components by what identifies and describes them', async () => {
  await send(sbom([{ purl: A, dependsOn: [B] }, { purl: B }, { purl: LOG4J }], [A]))
  assert.deepEqual(await purls(), [LOG4J, A, B].sort())
  assert.deepEqual(await purls('package=a'), [A])
  assert.deepEqual(await purls('package=%40acme/*'), [A])
  assert.deepEqual(await purls('package=log4j-*'), [LOG4J])
  assert.deepEqual(await purls('package=A'), [])
  assert.deepEqual(await purls('ecosystem=Maven'), [LOG4J])
  assert.deepEqual(await purls('ecosystem=npm&version=2.0.0'), [B])
  assert.deepEqual(await purls(`purl=${encodeURIComponent('pkg:npm/b')}`), [B])
  assert.deepEqual(await purls('direct=true'), [A])
  assert.deepEqual(await purls('direct=false'), [B])
  assert.deepEqual(await purls('repository=acme/nobody'), [])
  assert.equal((await api.request('GET', '/v1/components?purl=b', { key: caller.key })).status, 400)
})

test('a document of the same stream removes what it lacks, and its history stays', async () => {
  await send(sbom([{ purl: A }, { purl: B }]))
  api.clock.advance(60_000)
  await send(sbom([{ purl: A }, { purl: C }]))
  assert.deepEqual(await purls(), [A, C])
  assert.deepEqual(await purls('present=false'), [B])
  assert.deepEqual(await purls('present=any'), [A, B, C])
  const [b] = await list('present=false')
  const [occurrence, ...others] = await occurrences(b.id)
  assert.equal(others.length, 0)
  assert.ok(occurrence.removed_at > occurrence.first_seen_at)
  const [a] = await list('package=a')
  assert.equal((await occurrences(a.id))[0].removed_at, null)
})

test('documents of other categories and of other senders close nothing', async () => {
  await send(sbom([{ purl: A }]), { category: 'one' })
  await send(sbom([{ purl: B }]), { category: 'two' })
  assert.deepEqual(await purls(), [A, B])
})

test('a document with a component that cannot be read closes nothing', async () => {
  await send(sbom([{ purl: A }, { purl: B }]))
  const cut = JSON.parse(sbom([{ purl: B }]))
  cut.components.push('unreadable')
  await send(JSON.stringify(cut))
  assert.deepEqual(await purls(), [A, B])
})

test('a document that lacks most closes it only when the next one lacks it too', async () => {
  const many = Array.from({ length: 20 }, (_, index) => ({ purl: `pkg:npm/many-${index}@1` }))
  await send(sbom(many))
  await send(sbom([{ purl: A }]))
  assert.equal((await purls()).length, 21)
  await send(sbom([{ purl: A }, { purl: B }]))
  assert.deepEqual(await purls(), [A, B])
})

test('documents that arrive at the same time store each component once', async () => {
  const parts = Array.from({ length: 200 }, (_, index) => ({ purl: `pkg:npm/shared-${index}@1` }))
  const orders = [parts, parts.toReversed(), parts, parts.toReversed()]
  await Promise.all(orders.map((order, index) => send(sbom(order), { repository: `acme/app-${index}` })))
  const found = await list('package=shared-*&limit=1000')
  assert.equal(found.length, 200)
  for (const component of found) assert.equal(component.repositories.count, 4)
})

test('another organization sees nothing of it', async () => {
  await send(sbom([{ purl: A }]))
  const other = await api.caller()
  assert.deepEqual((await api.request('GET', '/v1/components', { key: other.key })).body.data, [])
})
