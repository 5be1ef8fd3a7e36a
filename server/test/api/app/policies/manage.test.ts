import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { auditOf, configureGate } from '../../../support/gates.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller
let author: Person

before(async () => {
  api = await startTestApi()
})
beforeEach(async () => {
  caller = await api.caller()
  author = await createPerson(api, { ...caller, role: 'security', name: 'Barbara Liskov' })
})
after(() => api?.close())

const FILE = `# Releases
name: release
mode: enforce
bindings: { environments: [production] }
rules:
  - rule: ended
    expression: run.status == "success"
    trust: any
`

const call = (method: string, path: string, body?: unknown, person = author) =>
  requestAs(api, person, method, `/policies${path}`, body)
const apply = (file: string, fields: object = {}) => call('POST', '', { file, ...fields })
async function applied(file: string, fields: object = {}): Promise<Json> {
  const answer = await apply(file, fields)
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}

test('validate returns the content of a valid file with its defaults, and stores nothing', async () => {
  const { status, body } = await call('POST', '/validate', { file: FILE })
  assert.deepEqual([status, body.data.valid, body.data.mistakes], [200, true, []])
  const { definition } = body.data
  assert.deepEqual([definition.name, definition.mode, definition.engine.type], ['release', 'enforce', 'cel'])
  assert.deepEqual(definition.bindings, { environments: ['production'], repositories: null, branches: null })
  assert.equal(definition.engine.rules[0].expression, 'run.status == "success"')
  assert.deepEqual((await call('GET', '')).body.data, [])
})

test('a listed policy says what evaluates it, who applied it and why, and in how many repositories it fails', async () => {
  const { id } = await applied(FILE, { reason: 'We release on Fridays.' })
  const { sql } = api.services
  const now = api.clock.now()
  for (const [repository, status] of [
    ['acme/api', 'failing'],
    ['acme/web', 'failing'],
    ['acme/cli', 'passing'],
  ])
    await sql`insert into compliance_results ${sql({
      ...{ org_id: caller.orgId, id: `${repository?.slice(5)}`, policy_id: id, policy_name: 'release', repository },
      ...{ status, evaluated_at: now, created_at: now, updated_at: now },
    } as never)}`
  const [listed] = (await call('GET', '')).body.data
  assert.deepEqual([listed.engine, listed.reason], ['cel', 'We release on Fridays.'])
  assert.deepEqual(listed.changed_by, { type: 'user', id: author.userId, name: `Barbara Liskov <${author.email}>` })
  assert.deepEqual(listed.results, { passing: 1, failing: 2, warning: 0, not_evaluated: 0 })
  assert.deepEqual((await call('GET', `/${id}`)).body.data.results, listed.results)
})

test('validate returns every mistake with its position; apply and dry run refuse the file with them', async () => {
  const file = 'name: wrong\nmode: sometimes\nrules:\n  - rule: a\n    expression: run.brnch == 1\n'
  const { data } = (await call('POST', '/validate', { file })).body
  assert.deepEqual([data.valid, data.definition], [false, null])
  assert.deepEqual(
    data.mistakes.map(({ line, column, path }: Json) => [line, column, path]),
    [
      [2, 7, 'mode'],
      [5, 17, 'rules[0].expression'],
    ],
  )
  for (const answer of [await apply(file), await call('POST', '/dry-run', { file })]) {
    assertError(answer, 400, 'invalid_policy')
    assert.deepEqual(answer.body.error.details.mistakes, data.mistakes)
  }
  assert.deepEqual((await call('GET', '')).body.data, [])
})

test('no text makes validate fail: hostile and odd files are mistakes', async () => {
  for (const file of [
    ' ',
    '[]',
    'null',
    '{',
    `name: ${'['.repeat(20_000)}`,
    `a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]`,
    '__proto__: { mode: enforce }\nname: x',
    `name: x\nmode: enforce\nrules:\n${'  - { rule: a, expression: "true" }\n'.repeat(51)}`,
    'name: x\nmode: enforce\nengine: wasm\nbundle: /etc/passwd\nentrypoint: a/b\n',
    '!!js/function "x"',
  ]) {
    const { status, body } = await call('POST', '/validate', { file })
    assert.deepEqual([status, body.data?.valid], [200, false], file.slice(0, 40))
    assert.ok(body.data.mistakes.length > 0)
  }
  for (const file of ['', 'x'.repeat(65_537), 1, null, 'name: \u0000'])
    assertError(await call('POST', '/validate', { file }), 400, 'invalid_request')
})

test('201 with the next version of a policy, 200 if only comments differ; versions keep their files and authors', async () => {
  const first = await applied(FILE, { reason: 'First policy', expected_version: 0 })
  assert.deepEqual([first.name, first.version, first.mode, first.changed], ['release', 1, 'enforce', true])
  const same = await apply(`# another comment\n${FILE}`)
  assert.deepEqual([same.status, same.body.data], [200, { ...first, changed: false }])
  api.clock.advance(1000)
  const changed = FILE.replace('enforce', 'monitor')
  const admin = await createPerson(api, { ...caller, name: 'Ada Lovelace' })
  const second = await call('POST', '', { file: changed, expected_version: 1 }, admin)
  assert.deepEqual(second.body.data, { ...first, version: 2, mode: 'monitor' })

  const { data } = (await call('GET', `/${first.id}`)).body
  assert.deepEqual([data.version, data.mode, data.repository, data.current.file], [2, 'monitor', null, changed])
  const versions = (await call('GET', `/${first.id}/versions`)).body.data
  assert.deepEqual(
    versions.map(({ version, mode, changed_by, reason }: Json) => [
      version,
      mode,
      changed_by?.name,
      changed_by?.id,
      reason,
    ]),
    [
      [2, 'monitor', `Ada Lovelace <${admin.email}>`, admin.userId, null],
      [1, 'enforce', `Barbara Liskov <${author.email}>`, author.userId, 'First policy'],
    ],
  )
  const one = (await call('GET', `/${first.id}/versions/1`)).body.data
  assert.deepEqual([one.file, one.definition.mode], [FILE, 'enforce'])
  const compared = (await call('GET', `/${first.id}/compare`)).body.data
  assert.deepEqual(compared.differences, [{ path: 'mode', before: 'enforce', after: 'monitor' }])
  assert.deepEqual([compared.from.file, compared.to.file], [FILE, changed])
  const [entry] = await auditOf(api, caller, first.id)
  assert.deepEqual([entry?.action, entry?.principal_id, entry?.reason], ['policy.apply', author.userId, 'First policy'])
})

test('409 version_conflict for all but one of several edits of the same version', async () => {
  const { id } = await applied(FILE)
  assertError(await apply(`${FILE}    blocking: false\n`, { expected_version: 0 }), 409, 'version_conflict')
  const edits = ['x', 'y', 'z'].map((name) => apply(`${FILE}    name: ${name}\n`, { expected_version: 1 }))
  const answers = await Promise.all(edits)
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409])
  assert.equal((await call('GET', `/${id}`)).body.data.version, 2)
})

test('a deleted policy is not listed and blocks nothing; applying its file again continues its versions', async () => {
  const { id } = await applied(FILE)
  const deleted = await call('DELETE', `/${id}?reason=Not+needed`)
  assert.deepEqual([deleted.status, deleted.body.data], [200, { id, name: 'release' }])
  assert.deepEqual((await call('GET', '')).body.data, [])
  assertError(await call('GET', `/${id}`), 404, 'not_found')
  assertError(await call('DELETE', `/${id}`), 404, 'not_found')
  const again = await applied(FILE, { expected_version: 0 })
  assert.deepEqual([again.id, again.version], [id, 2])
  const actions = (await auditOf(api, caller, id)).map(({ action, reason }) => `${action} ${reason}`)
  assert.deepEqual(actions.sort(), ['policy.apply null', 'policy.apply null', 'policy.remove Not needed'])
})

test('409 too_many_policies at 500 policies, exactly; a known policy can still be changed', async () => {
  const { sql } = api.services
  await sql`
    insert into policies (org_id, id, name, version, created_at, updated_at)
    select ${caller.orgId}, gen_random_uuid(), 'other-' || number, 0, now(), now() from generate_series(1, 499) as number`
  await applied(FILE)
  assertError(await apply(FILE.replace('name: release', 'name: one-more')), 409, 'too_many_policies')
  assert.equal((await apply(FILE.replace('success', 'failure'))).status, 201)
})

test('409 policy_in_use for a policy that a gate names', async () => {
  const { id } = await applied(FILE)
  await configureGate(api, caller, { policies: ['release'] })
  const refused = await call('DELETE', `/${id}`)
  assertError(refused, 409, 'policy_in_use')
  assert.deepEqual(refused.body.error.details, { gates: ['Production'] })
})

test("404 not_found for another organization's policy, and for what is no id or version", async () => {
  const { id } = await applied(FILE)
  const stranger = await createPerson(api, await api.caller())
  for (const path of [`/${id}`, `/${id}/versions`, `/${id}/versions/1`, `/${id}/compare`])
    assertError(await call('GET', path, undefined, stranger), 404, 'not_found')
  assertError(await call('DELETE', `/${id}`, undefined, stranger), 404, 'not_found')
  for (const path of [
    '/x',
    '/release/versions',
    `/${id}/versions/0`,
    `/${id}/versions/x`,
    `/${id}/versions/99999999999`,
  ])
    assertError(await call('GET', path), 404, 'not_found')
  assertError(await call('GET', `/${id}/compare`), 404, 'not_found')
  assert.equal((await call('GET', `/${id}/versions/1`)).status, 200)
})

test('every viewer can read policies, and only the permission manage_policies checks, tries and changes them', async () => {
  const { id } = await applied(FILE)
  const manager = await createPerson(api, { ...caller, role: 'release_manager' })
  assert.equal((await call('GET', `/${id}`, undefined, manager)).status, 200)
  for (const path of ['', '/validate', '/dry-run'])
    assertError(await call('POST', path, { file: FILE }, manager), 403, 'insufficient_permission')
  assertError(await call('DELETE', `/${id}`, undefined, manager), 403, 'insufficient_permission')
})
