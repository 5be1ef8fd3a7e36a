import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { evaluateDeployment } from '../../src/compliance/engines/evaluate-deployment.ts'
import { evaluateModule } from '../../src/compliance/engines/evaluate-policy.ts'
import type { PolicyInput } from '../../src/compliance/policies/policy-input.schema.ts'
import { hashBundle, parseBundle } from '../../src/compliance/policy-file/bundle.parser.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { sendReport, TESTS } from '../support/ci-reports.ts'
import { createRun } from '../support/ci-runs.ts'
import { type OpaServer, REGO, REGO_FILES, requireOpa, startOpa } from '../support/opa.ts'
import { apply, attestationOf, definitionOf, policyInput, verdictsOf } from '../support/policies.ts'

const DECISIONS = ['release/rules', 'broken/undecided', 'broken/boolean', 'broken/endless']
const RELEASE = `
name: release
mode: enforce
bindings: { environments: ['*'] }
engine: opa
decision: shiplock/release/rules
trust: any
absent_evidence: pass
max_age: 7d`
const CRITICAL = { open: { critical: 2, high: 0, medium: 0, low: 0, info: 0 }, known_exploited: 0, max_epss: 0 }

let opa: OpaServer
let env: Record<string, string>
let api: TestApi

before(async () => {
  opa = await startOpa()
  env = { SHIPLOCK_OPA_URL: opa.url }
  api = await startTestApi({ env })
})
after(async () => {
  await api?.close()
  await opa?.close()
})

const ask = (decision: string, input: PolicyInput) =>
  verdictsOf(definitionOf(RELEASE.replace('release/rules', decision)), input, env)

test('the OPA server returns the verdicts of its rules', async () => {
  const verdicts = await ask('release/rules', policyInput({ attestations: [attestationOf()], findings: CRITICAL }))
  assert.deepEqual(
    verdicts.map(({ rule, status, blocking }) => [rule, status, blocking]),
    [
      ['tests-passed', 'pass', true],
      ['no-critical', 'fail', true],
      ['fresh-scan', 'fail', false],
    ],
  )
  assert.deepEqual([verdicts[1]?.reason, verdicts[1]?.evidence], ['2 critical findings are open.', '{"critical":2}'])
})

test('OPA receives only the evidence that the policy accepts', async () => {
  const old = policyInput({ attestations: [attestationOf({ at: '2026-01-01T00:00:00.000Z' })] })
  assert.equal((await ask('release/rules', old))[0]?.status, 'fail')
  const strict = definitionOf(RELEASE.replace('trust: any\n', ''))
  const [untrusted] = await verdictsOf(strict, policyInput({ attestations: [attestationOf()] }), env)
  assert.equal(untrusted?.status, 'fail')
})

test('an undefined decision, an unknown path and a decision that is not a list are errors', async () => {
  for (const decision of ['broken/undecided', 'nowhere', 'broken/boolean']) {
    const verdicts = await ask(decision, policyInput())
    assert.deepEqual(
      verdicts.map(({ status }) => status),
      ['error'],
      decision,
    )
  }
})

test('a decision that takes too long is an error', async () => {
  const [verdict] = await ask('broken/endless', policyInput())
  assert.match(verdict?.reason ?? '', /did not answer within/)
})

test('OPA approves and blocks a deployment, and an unreachable OPA blocks it', async () => {
  const caller = await api.caller()
  await apply(api, caller, RELEASE)
  const run = await createRun(api, caller)
  const decision = async (opaUrl = opa.url) => {
    const services = { ...api.services, config: { ...api.services.config, opaUrl } }
    const deployment = {
      org_id: caller.orgId,
      deployment_id: 'd',
      run_id: run.id,
      attempt: 1,
      environment: 'production',
    }
    const place = { repository: run.repository, branch: null, commit_sha: run.commit_sha, policies: [] }
    return evaluateDeployment(services, { ...deployment, ...place })
  }
  assert.equal((await decision()).decision, 'block')
  await sendReport(api, caller, run.id, { attestations: [TESTS] })
  assert.equal((await decision()).decision, 'approve')
  const away = await decision('http://127.0.0.1:1')
  assert.equal(away.decision, 'block')
  assert.equal(away.policies[0]?.rules[0]?.reason, 'OPA could not be reached')
})

test('a policy compiled to WebAssembly returns the same verdicts as the OPA server', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-opa-'))
  try {
    const path = join(directory, 'bundle.tar.gz')
    const entrypoints = DECISIONS.flatMap((decision) => ['-e', `shiplock/${decision}`])
    await promisify(execFile)(requireOpa(), ['build', '-t', 'wasm', ...entrypoints, '-o', path, ...REGO_FILES], {
      cwd: REGO,
    })
    const bundle = await parseBundle(await readFile(path), path)
    const committed = await parseBundle(await readFile(join(REGO, 'release.tar.gz')), 'release.tar.gz')
    for (const input of [policyInput(), policyInput({ attestations: [attestationOf()], findings: CRITICAL })]) {
      const expected = await ask('release/rules', input)
      for (const built of [bundle, committed]) {
        const engine = { bundle: hashBundle(built), entrypoint: 'shiplock/release/rules' }
        assert.deepEqual(await evaluateModule(engine, input, async () => built), expected)
      }
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
