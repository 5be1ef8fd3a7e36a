import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type DeploymentToEvaluate, evaluateDeployment } from '../../src/compliance/engines/evaluate-deployment.ts'
import type { PolicyEvaluation } from '../../src/compliance/policies/policy-verdict.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { sendReport, TESTS, uploadArtifact } from '../support/ci-reports.ts'
import { createRun, patchRun } from '../support/ci-runs.ts'
import type { Json } from '../support/json.ts'
import { apply } from '../support/policies.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, scoredResult } from '../support/sarif.ts'

let api: TestApi
let caller: Caller
let run: Json

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  run = await createRun(api, caller, { ref: 'refs/heads/main', event: 'push' })
})

function evaluate(fields: Partial<DeploymentToEvaluate> = {}): Promise<PolicyEvaluation> {
  const { services } = api
  const deployment = {
    org_id: caller.orgId,
    deployment_id: 'dep_1',
    run_id: run.id,
    attempt: run.attempt,
    environment: 'production',
    repository: run.repository,
    branch: 'main',
    commit_sha: run.commit_sha,
    policies: [],
    ...fields,
  }
  return evaluateDeployment(services, deployment)
}

/** A policy file with one rule, bound to production unless `bindings` is given. */
function policyOf(
  expression: string,
  { name = 'p', mode = 'enforce', rule = '', bindings = "environments: ['production']" } = {},
) {
  const bound = bindings === '' ? '' : `bindings: { ${bindings} }\n`
  return `name: ${name}\nmode: ${mode}\n${bound}rules:\n  - rule: r\n    expression: '${expression}'\n    ${rule}\n`
}

/** A policy that looks at the deployed attempt. */
const ofAttempt = (expression: string) => `scope: attempt\n${policyOf(expression, { rule: 'trust: any' })}`

/** Evaluates, and returns the result of the only rule of the only policy. */
async function onlyRule(fields: Partial<DeploymentToEvaluate> = {}) {
  const { policies } = await evaluate(fields)
  assert.equal(policies.length, 1)
  const [rule] = policies[0]?.rules ?? []
  assert.ok(rule)
  return rule
}

test('the decision is none without policies', async () => {
  const { decision, policies } = await evaluate()
  assert.deepEqual([decision, policies], ['none', []])
})

test('if all rules pass the decision is approve, with version, mode and evidence', async () => {
  const { id } = await apply(api, caller, policyOf('findings.open.critical == 0', { rule: 'absent_evidence: pass' }))
  const { decision, policies, evaluation_id, at } = await evaluate()
  assert.equal(decision, 'approve')
  assert.deepEqual(policies, [
    {
      ...{ id, name: 'p', version: 1, mode: 'enforce', path: null, decision: 'approve' },
      rules: [
        {
          ...{ rule: 'r', name: 'r', status: 'pass', blocking: true },
          ...{ reason: null, evidence: 'findings.open.critical = 0' },
        },
      ],
    },
  ])
  assert.match(evaluation_id, /^[0-9a-f-]{36}$/)
  assert.deepEqual(at, api.clock.now())
})

test('a failing blocking rule blocks in enforce mode, and decides nothing in monitor mode', async () => {
  await apply(api, caller, policyOf('false'))
  assert.equal((await evaluate()).decision, 'block')
  await apply(api, caller, policyOf('false', { mode: 'monitor' }))
  const { decision, policies } = await evaluate()
  assert.deepEqual([decision, policies[0]?.decision, policies[0]?.version], ['none', 'warn', 2])
})

test('a policy covers what it is bound to, and the gates that name it', async () => {
  await apply(api, caller, policyOf('true', { name: 'bound', bindings: 'environments: [staging]' }))
  await apply(api, caller, policyOf('true', { name: 'asked', bindings: '' }))
  const names = async (fields: Partial<DeploymentToEvaluate>) =>
    (await evaluate(fields)).policies.map(({ name }) => name).sort()
  assert.deepEqual(await names({}), [])
  assert.deepEqual(await names({ environment: 'staging' }), ['bound'])
  assert.deepEqual(await names({ policies: ['asked', 'bound'] }), ['asked', 'bound'])
})

test('a policy that a gate names but that does not exist blocks, with a reason', async () => {
  const { decision, policies } = await evaluate({ policies: ['gone'] })
  assert.equal(decision, 'block')
  assert.match(policies[0]?.rules[0]?.reason ?? '', /Policy gone does not exist/)
})

test("another organization's policies are not evaluated", async () => {
  await apply(api, await api.caller(), policyOf('false'))
  assert.equal((await evaluate()).decision, 'none')
})

test('a stored policy that cannot be read blocks, whatever its bindings', async () => {
  await apply(api, caller, policyOf('true', { bindings: 'environments: [staging]' }))
  await api.services.sql`
    update policy_versions
    set definition = '{}'
    where org_id = ${caller.orgId}`
  const { decision, policies } = await evaluate()
  assert.deepEqual([decision, policies[0]?.rules[0]?.status], ['block', 'error'])
})

test('a rule whose stored expression no longer compiles is an error that blocks', async () => {
  await apply(api, caller, policyOf('true'))
  await api.services.sql`
    update policy_versions
    set definition = jsonb_set(definition, '{engine,rules,0,expression}', '"run.nothing =="')
    where org_id = ${caller.orgId}`
  const { decision, policies } = await evaluate()
  assert.deepEqual([decision, policies[0]?.rules[0]?.status], ['block', 'error'])
})

test('self-reported data counts only for rules with trust: any', async () => {
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  const expression = 'attestations.exists(a, a.kind == "test-results" && a.status == "pass")'
  await apply(api, caller, policyOf(expression))
  assert.equal((await onlyRule()).status, 'fail')
  await apply(api, caller, policyOf(expression, { rule: 'trust: any' }))
  assert.equal((await onlyRule()).status, 'pass')
  await apply(api, caller, policyOf('run.branch == "main"'))
  const left = await onlyRule()
  assert.equal(left.status, 'error')
  assert.match(left.reason ?? '', /trust: any/)
})

test('evidence older than its maximum age counts as missing', async () => {
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  await apply(api, caller, policyOf('attestations.size() > 0', { rule: 'trust: any\n    max_age: 1h' }))
  api.clock.advance(3_600_000)
  assert.equal((await onlyRule()).status, 'pass')
  api.clock.advance(1)
  assert.equal((await onlyRule()).status, 'fail')
})

test('the policy input contains the run, attempt, reports, attestations, artifacts and deployment target', async () => {
  const sent = await sendReport(api, caller, run.id, {
    job: { name: 'test', matrix: { os: 'linux' }, runner: 'r1' },
    attestations: [TESTS],
  })
  await uploadArtifact(api, caller, sent, 'dist/app.js', 'hello')
  await patchRun(api, caller, run.id, { status: 'success' })
  const facts = [
    'run.branch == "main" && run.ref == "refs/heads/main" && run.event == "push" && run.attempt == 1',
    'run.status == "success" && run.trust == "self_reported" && run.ci_system == "buildkite"',
    'run.completed_at <= now && attempts.size() == 1 && attempts[0].number == 1',
    'reports.exists(r, r.job == "test" && r.matrix.os == "linux" && r.runner == "r1" && r.name == "default")',
    'attestations.exists(a, a.kind == "test-results" && a.job == "test" && a.data.passed == 3)',
    'artifacts.exists(f, f.path == "dist/app.js" && f.size == 5)',
    'environment.name == "production" && deployment.id == "dep_1" && deployment.attempt == 1',
    'repository == "github.com/acme/api" && truncated.size() == 0',
  ]
  for (const fact of facts) {
    await apply(api, caller, policyOf(fact, { rule: 'trust: any' }))
    const { status, reason } = await onlyRule()
    assert.equal(status, 'pass', `${fact}: ${reason}`)
  }
})

test('with scope: attempt, only evidence of the deployed attempt counts', async () => {
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  await createRun(api, caller, { external_run_id: run.external_run_id, attempt: 2 })
  await apply(api, caller, ofAttempt('attestations.size() == 1'))
  assert.equal((await onlyRule()).status, 'pass')
  assert.equal((await onlyRule({ attempt: 2 })).status, 'fail')
  await apply(api, caller, policyOf('attestations.size() == 1', { rule: 'trust: any' }))
  assert.equal((await onlyRule({ attempt: 2 })).status, 'pass')
})

test('open findings of the branch or the tracked branch count, with their tool', async () => {
  const critical = sarif([scoredResult('a', 9.8), scoredResult('b', 5)])
  await uploadReport(api, caller, critical, { repository: 'acme/api', gitRef: 'main' })
  await apply(
    api,
    caller,
    policyOf('findings.open.critical == 1 && findings.open.medium == 1 && issues.open.critical == 1'),
  )
  assert.equal((await onlyRule()).status, 'pass')
  await apply(api, caller, policyOf('scans.exists(s, s.tool == "Linter" && s.trust == "uploaded" && s.ref == "main")'))
  assert.equal((await onlyRule()).status, 'pass')
  await apply(api, caller, policyOf('findings.open.critical == 0'))
  await uploadReport(api, caller, sarif([]), { repository: 'acme/api', gitRef: 'topic', tracked: false })
  assert.equal((await onlyRule()).status, 'fail')
  assert.equal((await onlyRule({ branch: 'topic' })).status, 'pass')
  assert.match((await onlyRule({ branch: 'other' })).reason ?? '', /evidence_missing/)
  await apply(api, caller, policyOf('findings.open.critical == 0', { rule: 'absent_evidence: pass' }))
  assert.equal((await onlyRule({ branch: 'other' })).status, 'fail')
})

test('findings of a repository with the same name on another provider do not count', async () => {
  await uploadReport(api, caller, sarif([scoredResult('a', 9.8)]), {
    repository: 'acme/api',
    provider: 'gitlab',
    repositoryId: '7',
  })
  await apply(api, caller, policyOf('findings.open.critical == 0', { rule: 'absent_evidence: pass' }))
  assert.equal((await onlyRule()).status, 'pass')
  assert.equal((await onlyRule({ repository: 'gitlab.com/acme/api' })).status, 'fail')
})

test('a deployment without a run is evaluated by the data of its repository', async () => {
  const nothing = '!has(run.id) && attestations.size() == 0 && findings.open.critical == 0'
  await apply(api, caller, policyOf(nothing, { rule: 'absent_evidence: pass' }))
  assert.equal((await onlyRule({ run_id: null })).status, 'pass')
})

test('a rule that times out is an error that blocks, and the next policy is still evaluated', async () => {
  const numbers = `[${Array.from({ length: 100 }, (_, index) => index).join(', ')}]`
  const slow = ['a', 'b', 'c', 'd'].reduceRight((inner, name) => `${numbers}.all(${name}, ${inner})`, 'a + d >= 0')
  await apply(api, caller, policyOf(slow, { name: 'slow' }))
  await apply(api, caller, policyOf('true', { name: 'quick' }))
  const { decision, policies } = await evaluate()
  assert.equal(decision, 'block')
  assert.deepEqual(
    policies.map(({ name, rules }) => [name, rules[0]?.status]),
    [
      ['quick', 'pass'],
      ['slow', 'error'],
    ],
  )
  assert.match(policies[1]?.rules[0]?.reason ?? '', /took more than 1000 ms/)
})

test('a rule that uses too much memory is an error, and the server keeps running', async () => {
  const doubled = Array.from({ length: 32 }, () => '.map(x, x + x)').join('')
  await apply(api, caller, policyOf(`[[1, 2]]${doubled}[0].size() > 0`))
  assert.equal((await onlyRule()).status, 'error')
  await apply(api, caller, policyOf('true'))
  assert.equal((await onlyRule()).status, 'pass')
})

test('a policy whose stored version is missing blocks', async () => {
  await apply(api, caller, policyOf('true', { bindings: 'environments: [staging]' }))
  await api.services.sql`
    delete from policy_versions
    where org_id = ${caller.orgId}`
  const { decision, policies } = await evaluate()
  assert.deepEqual([decision, policies[0]?.mode, policies[0]?.rules[0]?.status], ['block', 'enforce', 'error'])
})

test('data over the limit is left out of the policy input, which is marked as truncated', async () => {
  const attestations = Array.from({ length: 20 }, (_, index) => {
    return { kind: 'custom', name: `c${index}`, status: 'info', data: { status: 'info', text: 'x'.repeat(60_000) } }
  })
  for (const name of ['one', 'two']) await sendReport(api, caller, run.id, { job: { name }, attestations })
  const facts = 'attestations.size() == 40 && "data" in truncated && attestations.exists(a, !has(a.data.text))'
  await apply(api, caller, policyOf(facts, { rule: 'trust: any' }))
  assert.equal((await onlyRule()).status, 'pass')
})

test('of too many attestations the failed ones are kept, and the policy input is marked as truncated', async () => {
  const reports = 60
  for (let made = 0; made < reports; made += 1) {
    const attestations = Array.from({ length: 20 }, (_, index) => ({ ...TESTS, name: `t${index}` }))
    if (made === 0) attestations[0] = { ...TESTS, name: 't0', data: { ...TESTS.data, failed: 1 } }
    await sendReport(api, caller, run.id, { job: { name: `job-${made}` }, attestations })
    api.clock.advance(1)
  }
  await apply(api, caller, ofAttempt('attestations.size() == 1000 && "attestations" in truncated'))
  assert.equal((await onlyRule()).status, 'pass')
  await apply(api, caller, ofAttempt('attestations[0].status == "fail"'))
  assert.equal((await onlyRule()).status, 'pass')
  await apply(api, caller, policyOf('attestations[0].status == "fail"', { rule: 'trust: any' }))
  const { status, reason } = await onlyRule()
  assert.deepEqual([status, reason?.split(':')[0]], ['error', 'evidence_truncated'])
  await apply(api, caller, policyOf('attestations[0].status == "pass"', { rule: 'trust: any' }))
  assert.equal((await onlyRule()).status, 'fail')
})
