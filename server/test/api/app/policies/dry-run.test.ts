import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun } from '../../../support/ci-runs.ts'
import { openGate } from '../../../support/gates.ts'
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
  author = await createPerson(api, { ...caller, role: 'security' })
})
after(() => api?.close())

const policy = (lines: string) => `name: release\nmode: monitor\n${lines}`
const ENDED = policy(`rules:
  - rule: ended
    expression: run.status == "success"
    trust: any
    reason: The run has not succeeded.
  - rule: named
    expression: run.pipeline_name != "nightly"
    trust: any
    blocking: false
`)

const dryRun = (file: string, fields: object = {}, person = author) =>
  requestAs(api, person, 'POST', '/policies/dry-run', { file, ...fields })

async function tried(file: string, fields: object = {}): Promise<Json> {
  const answer = await dryRun(file, fields)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data
}

let made = 0
async function run(fields: object = {}): Promise<string> {
  made += 1
  api.clock.advance(1000)
  return (await createRun(api, caller, { external_run_id: `run/${made}`, ...fields })).id
}

const finish = (id: string, status: string) =>
  api.request('PATCH', `/v1/ci/runs/${id}`, { key: caller.key, body: { status } })

test('the results of each rule for the last runs, newest first, with their number; nothing is stored', async () => {
  const [good, bad, odd] = [await run(), await run(), await run({ pipeline_name: 'nightly' })]
  await finish(good, 'success')
  await finish(bad, 'failure')
  await finish(odd, 'success')
  const data = await tried(ENDED)
  assert.deepEqual([data.name, data.mode, data.is_complete], ['release', 'monitor', true])
  assert.deepEqual(
    data.results.map(({ run: of, decision, rules }: Json) => [
      of.id,
      of.status,
      decision,
      rules.map((each: Json) => each.status),
    ]),
    [
      [odd, 'success', 'approve', ['pass', 'fail']],
      [bad, 'failure', 'block', ['fail', 'pass']],
      [good, 'success', 'approve', ['pass', 'pass']],
    ],
  )
  assert.equal(data.results[1].rules[0].reason, 'The run has not succeeded.')
  assert.deepEqual(data.decisions, { approve: 2, block: 1, warn: 0 })
  assert.deepEqual(data.rules, [
    { rule: 'ended', pass: 2, fail: 1, warn: 0, error: 0 },
    { rule: 'named', pass: 2, fail: 1, warn: 0, error: 0 },
  ])
  const one = await tried(ENDED, { last: 1 })
  assert.deepEqual(
    one.results.map(({ run: of }: Json) => of.id),
    [odd],
  )
  assert.deepEqual((await requestAs(api, author, 'GET', '/policies')).body.data, [])
  assert.deepEqual((await requestAs(api, author, 'GET', '/compliance/results')).body.data, [])
})

test('only runs that the bindings cover are evaluated, or those of one repository', async () => {
  const main = await run({ ref: 'refs/heads/main' })
  await run({ ref: 'refs/heads/next' })
  const other = await run({ repository: 'https://github.com/acme/other.git', ref: 'refs/heads/main' })
  const idsOf = ({ results }: Json) => results.map(({ run: of }: Json) => of.id)
  const rules = 'rules:\n  - { rule: a, expression: "true" }\n'
  assert.deepEqual(idsOf(await tried(policy(`bindings: { branches: [main] }\n${rules}`))), [other, main])
  assert.deepEqual(idsOf(await tried(policy(`bindings: { repositories: [acme/other] }\n${rules}`))), [other])
  assert.deepEqual(idsOf(await tried(policy(rules), { repository: 'acme/other' })), [other])
  assert.equal((await tried(policy(rules))).results.length, 3)
  assert.deepEqual((await tried(policy(rules), { repository: 'acme/none' })).results, [])
})

test('with an environment, runs are evaluated as if they were deployed there', async () => {
  await run()
  const file = (environments: string) =>
    policy(`bindings: { environments: [${environments}] }
rules:
  - { rule: a, expression: environment.name == "production" && deployment.attempt == 1 }
`)
  const [result] = (await tried(file('production'), { environment: 'production' })).results
  assert.deepEqual([result.decision, result.deployment], ['approve', undefined])
  assert.deepEqual((await tried(file('staging'), { environment: 'production' })).results, [])
  const [without] = (await tried(file('staging'))).results
  assert.equal(without.rules[0].status, 'error')
})

test('the last deployments that the policy covers are evaluated with their run and environment', async () => {
  const run_id = await run()
  const { deployment_id } = await openGate(api, caller, { environment: 'production' })
  const rule = 'rules:\n  - { rule: a, expression: environment.name == "production" && has(run.status), trust: any }\n'
  const data = await tried(policy(`bindings: { environments: [prod*] }\n${rule}`), { subject: 'deployments' })
  const [{ deployment, decision, run: none }, ...others] = data.results
  assert.deepEqual(
    [deployment.id, deployment.environment, decision, none],
    [deployment_id, 'production', 'approve', undefined],
  )
  assert.deepEqual(others, [])
  const elsewhere = policy(`bindings: { environments: [staging] }\n${rule}`)
  assert.deepEqual((await tried(elsewhere, { subject: 'deployments' })).results, [])
  assert.deepEqual((await tried(policy(rule), { subject: 'deployments', environment: 'staging' })).results, [])
  assert.ok(run_id)
})

test('rules that cannot be evaluated are errors, which block', async () => {
  await run()
  const data = await tried(policy('rules:\n  - { rule: a, expression: pull_request.number == 1 }\n'))
  assert.deepEqual([data.results[0].rules[0].status, data.decisions], ['error', { approve: 0, block: 1, warn: 0 }])
})

test("another organization's runs are not seen", async () => {
  await run()
  const stranger = await createPerson(api, await api.caller())
  assert.deepEqual((await dryRun(ENDED, {}, stranger)).body.data.results, [])
})

test('429 rate_limited for all but one of several dry runs of an organization at once', async () => {
  await run()
  const answers = await Promise.all(Array.from({ length: 4 }, () => dryRun(ENDED)))
  const statuses = answers.map(({ status }) => status)
  assert.ok(statuses.includes(200) && statuses.includes(429), statuses.join())
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    assertError(answer, 429, 'rate_limited')
    assert.equal(answer.headers.get('retry-after'), '5')
  }
  assert.equal((await dryRun(ENDED)).status, 200)
})

test('403 insufficient_permission without the permission to view what the policy reads', async () => {
  const blind = await createPerson(api, { ...caller, permissions: ['manage_policies'] })
  const refused = await dryRun(ENDED, {}, blind)
  assertError(refused, 403, 'insufficient_permission')
  assert.equal(refused.body.error.details.requiredPermission, 'view')
})

test('400 invalid_request for more than 50 subjects and for fields that do not exist', async () => {
  for (const fields of [{ last: 51 }, { last: 0 }, { subject: 'findings' }, { limit: 5 }])
    assertError(await dryRun(ENDED, fields), 400, 'invalid_request')
})
