import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Scope } from '../../../../src/access/scopes.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import { artifactOf, sendReport, uploadArtifact } from '../../../support/ci-reports.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { answer, configureGate, getDeployment, openGate, postGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../support/token-caller.ts'

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
  await configureGate(api, caller, { environment: '*' })
})
after(async () => {
  await caller?.close()
  await api?.close()
})

let made = 0
/** A digest that no other test has. */
const digest = () => (++made).toString(16).padStart(64, '0')
const image = (fields: object = {}) => ({ name: 'ghcr.io/acme/shop', sha256: digest(), ...fields })
const newRun = async () => (await createRun(api, caller)).id as string
const report = (runId: string, subjects: object[], fields: object = {}) =>
  sendReport(api, caller, runId, { ...fields, subjects })
const get = async (path: string, { key }: Pick<Caller, 'key'> = caller): Promise<Json> => {
  const { status, body } = await api.request('GET', path, { key })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const trace = async (sha256: string, by?: Caller) => get(`/v1/artifacts?sha256=${sha256}`, by)
const shown = (deployment: Json) => deployment.subjects?.map(({ sha256 }: Json) => sha256)

test('a report names what it built, and a report in its place names other things', async () => {
  const run = await newRun()
  const [first, second] = [image({ name: 'GHCR.io/acme/shop:1.2' }), image()]
  await report(run, [first])
  assert.deepEqual(
    (await trace(first.sha256)).data.reports.map(({ name }: Json) => name),
    ['ghcr.io/acme/shop'],
  )
  await report(run, [second])
  assert.deepEqual((await trace(first.sha256)).data.reports, [])
  assert.deepEqual(
    (await trace(second.sha256)).data.runs.map(({ id }: Json) => id),
    [run],
  )
  await report(run, [])
  assert.deepEqual((await trace(second.sha256)).data.runs, [])
})

test('a subject with a mistake is refused by its place, and nothing is stored', async () => {
  const run = await newRun()
  const mistakes: [object, string][] = [
    [{ name: '', sha256: digest() }, '/body/subjects/0/name'],
    [{ name: 'a\nb', sha256: digest() }, '/body/subjects/0/name'],
    [{ name: 'app', sha256: `sha256:${digest()}` }, '/body/subjects/0/sha256'],
    [image({ platforms: [{ sha256: 'x', platform: 'linux/amd64' }] }), '/body/subjects/0/platforms/0/sha256'],
    [image({ tag: '1' }), '/body/subjects/0/tag'],
  ]
  for (const [subject, path] of mistakes) {
    const body = { job: { name: 'build' }, subjects: [subject] }
    assertInvalid(await api.request('POST', `/v1/ci/runs/${run}/reports`, { key: caller.key, body }), path)
  }
  assert.deepEqual((await api.services.sql`select from ci_subjects where run_id = ${run}`).length, 0)
})

test('reports of other lanes do not replace the subjects of a verified job', async () => {
  const claims = newRunClaims()
  const { id } = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  const [own, other] = [image(), image()]
  await caller.send('POST', `/v1/ci/runs/${id}/reports`, { job: { name: 'build' }, subjects: [own] }, claims)
  await report(id, [other], { job: { name: 'build' } })
  await report(id, [], { job: { name: 'build' } })
  const { reports } = (await trace(own.sha256)).data
  assert.deepEqual(
    reports.map(({ trust }: Json) => trust),
    ['verified'],
  )
})

test('a gate deploys subjects and files of runs, and is opened again with the same only', async () => {
  const run = await newRun()
  const platform = { sha256: digest(), platform: 'linux/arm64' }
  const built = image({ platforms: [platform] })
  const file = artifactOf('app.tar', `contents ${made}`)
  const { report_id } = await report(run, [built])
  await uploadArtifact(api, caller, { run_id: run, report_id }, 'app.tar', `contents ${made}`)
  const subjects = [built, { name: 'app.tar', sha256: file.sha256 }]
  const gate = await openGate(api, caller, { run_id: run, subjects })
  const { subjects: stored } = await getDeployment(api, caller, gate.deployment_id)
  assert.deepEqual(stored, [
    {
      ...{ name: 'ghcr.io/acme/shop', sha256: built.sha256, media_type: null, platforms: [platform] },
      ...{ trust: 'self_reported', stated_after_decision: false, stated_by: null },
    },
    {
      ...{ name: 'app.tar', sha256: file.sha256, media_type: null, platforms: [] },
      ...{ trust: 'self_reported', stated_after_decision: false, stated_by: null },
    },
  ])
  const again = (body: object) => postGate(api, caller, { run_id: run, environment: 'production', ...body })
  assert.equal((await again({ subjects: subjects.toReversed() })).status, 200)
  assert.equal((await again({})).status, 200)
  assertError(await again({ subjects: [built] }), 409, 'gate_subjects_differ')
  assertError(await again({ subjects: [] }), 409, 'gate_subjects_differ')
  assert.deepEqual(
    (await trace(platform.sha256)).data.deployments.map(({ id }: Json) => id),
    [gate.deployment_id],
  )
})

test('a gate names no digest that no run has, also not one of another organization', async () => {
  const run = await newRun()
  const stranger = await api.caller()
  const foreign = image()
  await sendReport(api, stranger, (await createRun(api, stranger)).id, { subjects: [foreign] })
  const open = (subjects: object[]) => postGate(api, caller, { run_id: run, environment: 'eu', subjects })
  assertInvalid(await open([foreign]), '/body/subjects/0/sha256')
  const own = image()
  await report(run, [own])
  assertInvalid(await open([own, image()]), '/body/subjects/1/sha256')
  assert.equal((await open([own])).status, 201)
})

test('without subjects of the gate, those of the newest reports of the jobs count', async () => {
  const run = await newRun()
  const [first, second] = [image(), image()]
  await report(run, [first], { job: { name: 'a' } })
  const gate = await openGate(api, caller, { run_id: run })
  await report(run, [second], { job: { name: 'b' } })
  assert.deepEqual(shown(await getDeployment(api, caller, gate.deployment_id)), [first.sha256, second.sha256])
})

test('subjects are added to a deployment that names none, marked as stated later', async () => {
  const run = await newRun()
  const gate = await openGate(api, caller, { run_id: run })
  const patch = (subjects: object[]) =>
    api.request('PATCH', `/v1/deployments/${gate.deployment_id}`, { key: caller.key, body: { subjects } })
  const [first, second] = [image(), image()]
  assert.equal((await patch([first])).status, 200)
  assert.equal((await patch([first])).status, 200)
  const { subjects } = (await patch([second])).body.data
  assert.deepEqual(
    subjects.map(({ sha256, stated_after_decision }: Json) => [sha256, stated_after_decision]),
    [first, second].map(({ sha256 }) => [sha256, true]),
  )
  assert.match(subjects[0].stated_by, /\S/)
  await report(run, [image()])
  assertError(await patch([image()]), 409, 'gate_subjects_differ')
})

test('sections are shown by the scopes of the credential, and the others are named', async () => {
  const run = await newRun()
  const built = image()
  await report(run, [built], {
    attestations: [{ kind: 'custom', name: 'check', status: 'pass', data: {} }],
  })
  const gate = await openGate(api, caller, { run_id: run, subjects: [built] })
  await answer(api, caller, gate.deployment_id, 'approve')
  const all = await trace(built.sha256)
  assert.deepEqual(Object.keys(all.data), [
    ...['sha256', 'runs', 'reports', 'attestations', 'sboms', 'deployments', 'statements'],
  ])
  assert.deepEqual([all.meta.omitted, all.data.attestations[0].name], [[], 'check'])
  const narrow = await api.caller({ orgId: caller.orgId, scopes: ['read:pipelines'] as Scope[] })
  const part = await trace(built.sha256, narrow)
  assert.deepEqual(Object.keys(part.data), ['sha256', 'runs', 'reports', 'attestations'])
  assert.deepEqual(part.meta.omitted, [
    ...['sboms (read:security)', 'deployments (read:deployments)', 'statements (read:attestations)'],
  ])
  const stranger = await api.caller()
  assert.deepEqual((await trace(built.sha256, stranger)).data.runs, [])
})
