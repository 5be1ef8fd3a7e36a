import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../../server/test/support/json.ts'
import { githubClaims } from '../../server/test/support/oidc-claims.ts'
import { runWorkflow } from './ci/github-workflow.ts'
import { GITHUB } from './ci/variables.ts'
import { REPORTED, startMachine } from './support/machine.ts'
import { packCli } from './support/packed-cli.ts'
import { adaptedCommand, readPage } from './support/pages.ts'
import { type Organization, type Shiplock, startShiplock } from './support/shiplock.ts'
import { startTokenEndpoint, type TokenEndpoint } from './support/token-endpoint.ts'

/** Without `trust: any`, only verified evidence counts. */
const POLICY = `name: tests-verified
mode: enforce
rules:
  - rule: tests-passed
    name: Tests passed
    expression: attestations.exists(a, a.kind == "test-results" && a.status == "pass")
    reason: No job with an OIDC token has reported passed tests.
`

let shiplock: Shiplock
let organization: Organization
let tokens: TokenEndpoint
let cli: { path: string; remove(): void }
let workflow: string
let commit: string

before(async () => {
  using machine = startMachine()
  commit = machine.commit
  cli = packCli()
  shiplock = await startShiplock()
  organization = await shiplock.createOrganization('acme')
  const claims = () => ({ ...githubClaims(), sha: commit })
  tokens = await startTokenEndpoint(claims, undefined, (asked) => `${asked}/acme`)
  const policy = join(machine.temp, 'policy.yaml')
  writeFileSync(policy, POLICY)
  await shiplock.administer(`npx shiplock-server policy apply --org acme --file ${policy}`)
  const { commands, files } = readPage('github-actions.md', shiplock.url)
  for (const command of commands) {
    const own = adaptedCommand(command, 'acme', tokens.issuer.url)
    await shiplock.administer(own.includes(' gate create ') ? `${own} --policy tests-verified` : own)
  }
  workflow = files[0]?.text ?? ''
})
after(async () => {
  await tokens?.close()
  await shiplock?.close()
  cli?.remove()
})

test('a workflow with id-token: write and the action is a verified run with findings, and a policy decides its gate', async () => {
  const jobs = await runWorkflow(workflow, {
    variables: { ...GITHUB, GITHUB_RUN_ATTEMPT: '1' },
    idToken: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${tokens.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: tokens.secret,
    },
    vars: { SHIPLOCK_CLI: cli.path },
  })
  for (const [name, { result, log }] of Object.entries(jobs)) assert.equal(result, 'success', `${name}: ${log}`)
  const [run] = await organization.get('/v1/runs')
  assert.deepEqual(
    [run.trust, run.ci_system, run.status, run.commit_sha],
    ['verified', 'github-actions', 'success', commit],
  )
  const isComplete = (findings: Json[]) => findings.length >= REPORTED.findings
  await organization.until('/v1/security/findings?limit=100', isComplete)
  // The deployment follows its run in a job.
  const hasEnded = ([first]: Json[]) => first?.status === 'success'
  const [deployment] = await organization.until('/v1/deployments', hasEnded)
  assert.equal(deployment.environment, 'production')
  const [{ name, decision }] = deployment.policy_evaluation.policies
  assert.deepEqual([name, decision], ['tests-verified', 'approve'])
})

test('the same evidence with an API key does not pass the policy', async () => {
  const { post } = organization
  const identity = { ci_system: 'jenkins', external_run_id: '1', pipeline_name: 'build' }
  const run = await post('/v1/ci/runs', {
    ...identity,
    repository: 'github.com/acme/shop',
    // What the workflow has stated about its own commit would count here, too.
    commit_sha: 'b'.repeat(40),
    ref: 'main',
  })
  const run_id = run.body.data.id
  const data = { passed: 2, failed: 0, skipped: 1, errors: 0 }
  await post(`/v1/ci/runs/${run_id}/reports`, {
    job: {},
    attestations: [{ kind: 'test-results', name: 'tests', data }],
  })
  const { body } = await post('/v1/ci/gates', { run_id, environment: 'production' })
  const isEvaluated = ([first]: Json[]) => first?.policy_evaluation !== null
  const [deployment] = await organization.until('/v1/deployments', isEvaluated)
  assert.deepEqual([deployment.id, deployment.status], [body.data.deployment_id, 'pending_approval'])
  assert.equal(deployment.policy_evaluation.policies[0].decision, 'block')
})

test('without id-token: write, the step fails and says which line is missing', async () => {
  const without = workflow.replace('  id-token: write\n', '')
  const run = { variables: GITHUB, idToken: {}, vars: { SHIPLOCK_CLI: cli.path } }
  const { test: job } = await runWorkflow(without, run)
  assert.equal(job?.result, 'failure')
  assert.match(job?.log ?? '', /Add "permissions: id-token: write"/)
})
