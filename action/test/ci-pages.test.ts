import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json } from '../../server/test/support/json.ts'
import { azureClaims, bitbucketClaims, githubClaims, gitlabClaims } from '../../server/test/support/oidc-claims.ts'
import { runWorkflow } from './ci/github-workflow.ts'
import { runPipeline } from './ci/gitlab-pipeline.ts'
import { runJenkinsfile } from './ci/jenkinsfile.ts'
import {
  type Log,
  runAzurePipeline,
  runBitbucketPipelines,
  runBuildkitePipeline,
  runCircleConfig,
  runScript,
} from './ci/step-files.ts'
import * as variables from './ci/variables.ts'
import { type Env, REPORTED, startMachine } from './support/machine.ts'
import { packCli } from './support/packed-cli.ts'
import { adaptedCommand, type Block, readPage } from './support/pages.ts'
import { type Organization, type Shiplock, startShiplock } from './support/shiplock.ts'
import { startTokenEndpoint, type TokenEndpoint } from './support/token-endpoint.ts'

let shiplock: Shiplock
let cli: { path: string; remove(): void }
let commit: string

before(async () => {
  shiplock = await startShiplock()
  cli = packCli()
  using machine = startMachine()
  commit = machine.commit
})
after(async () => {
  await shiplock?.close()
  cli?.remove()
})

/** What a page promises of the run that its file reports. */
type Promised = {
  ci_system: string
  /** Null if the command makes one up. */
  external_run_id: string | null
  trust: 'verified' | 'self_reported'
  attempt?: number
  repository?: string
  /** The claims of the job's OIDC token. */
  claims?: (commit: string) => Record<string, unknown>
}

let pages = 0

type Play = { files: Block[]; organization: Organization; tokens: TokenEndpoint; env: Env }

/**
 * Follows a page of docs/ci: runs its commands on the server, plays its file, and checks what the
 * server then knows.
 */
function testPage(page: string, promised: Promised, play: (page: Play) => Promise<void>): void {
  test(`docs/ci/${page}: the file reports a ${promised.trust} run with findings`, async (t) => {
    pages += 1
    const slug = `page-${pages}`
    const organization = await shiplock.createOrganization(slug)
    const tokens = await startTokenEndpoint(
      () => promised.claims?.(commit) ?? {},
      undefined,
      (asked) => (asked === shiplock.url ? `${asked}/${slug}` : asked),
    )
    t.after(() => tokens.close())
    const { commands, files } = readPage(page, shiplock.url)
    const env: Env = { SHIPLOCK_CLI: cli.path }
    for (const command of commands) {
      const printed = await shiplock.administer(adaptedCommand(command, slug, tokens.issuer.url))
      if (printed.key) env.SHIPLOCK_KEY = printed.key
    }
    await play({ files, organization, tokens, env })
    await assertReported(organization, promised)
  })
}

async function assertReported({ get, post, until }: Organization, promised: Promised): Promise<void> {
  const [run, ...others] = await get('/v1/runs')
  assert.equal(others.length, 0, 'all jobs report the same run')
  const { ci_system, external_run_id, trust, attempt = 1, repository = 'github.com/acme/shop' } = promised
  const expected = { ci_system, trust, status: 'success', commit_sha: commit, branch: 'main', run_attempt: attempt }
  const shown = Object.keys(expected).map((name) => [name, run[name]])
  assert.deepEqual(Object.fromEntries(shown), expected)
  if (external_run_id !== null) {
    const repeated = { ci_system, external_run_id, attempt, commit_sha: commit, repository }
    const { status, body } = await post('/v1/ci/runs', { ...repeated, pipeline_name: 'build' })
    // The key's word stands beside that of the job.
    const { id, stands_beside } = body.data ?? {}
    const isVerified = trust === 'verified'
    assert.deepEqual([status, isVerified ? stands_beside : id], [isVerified ? 201 : 200, run.id], JSON.stringify(body))
  }
  const isComplete = (findings: Json[]) => findings.length >= REPORTED.findings
  const findings = await until('/v1/security/findings?limit=100', isComplete)
  assert.equal(findings.length, REPORTED.findings)
  assert.ok(findings.every(({ origin, commit_sha }) => origin === 'report' && commit_sha === commit))
}

function assertSucceeded<Logs extends Record<string, Log> | Log[]>(logs: Logs): Logs {
  for (const [name, { succeeded, log }] of Object.entries(logs)) assert.ok(succeeded, `${name}: ${log}`)
  return logs
}

/** Approves the first deployment that waits for its gate. */
async function approve({ answer, until }: Organization): Promise<void> {
  const [deployment] = await until('/v1/deployments', ([first]) => first?.status === 'pending_approval')
  const { status } = await answer(`/v1/deployments/${deployment?.id}/approve`, { reason: 'The tests have passed.' })
  assert.equal(status, 200)
}

testPage(
  'github-actions.md',
  {
    ...{ ci_system: 'github-actions', external_run_id: '11223344556', attempt: 2, trust: 'verified' },
    claims: (sha) => ({ ...githubClaims(), sha, run_attempt: '2' }),
  },
  async ({ files: [workflow], organization, tokens, env }) => {
    const idToken = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${tokens.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: tokens.secret,
    }
    const played = runWorkflow(workflow?.text ?? '', { variables: variables.GITHUB, idToken, vars: env })
    const [jobs] = await Promise.all([played.then(assertSucceeded), approve(organization)])
    assert.match(jobs.deploy?.log ?? '', /^deployed$/m)
    assert.match(jobs.test?.outputs ?? '', /report-id<<[^\n]+\n2-[0-9a-f]{24}\n/)
    assert.match(jobs.test?.summary ?? '', /Tests: 2 passed/)
  },
)

/** The pipeline, and the component. */
for (const index of [0, 1]) {
  testPage(
    'gitlab.md',
    {
      ...{ ci_system: 'gitlab-ci', external_run_id: '1519139981', trust: 'verified' },
      repository: 'gitlab.com/acme/shop',
      claims: (sha) => ({ ...gitlabClaims(), sha }),
    },
    async ({ files, organization, tokens, env }) => {
      const run = { env: { ...variables.GITLAB, ...env }, issue: tokens.issue }
      const played = runPipeline(files[index]?.text ?? '', run).then(assertSucceeded)
      await Promise.all([played, index === 0 && approve(organization)])
    },
  )
}

testPage(
  'bitbucket.md',
  {
    ci_system: 'bitbucket-pipelines',
    external_run_id: '805b0ca6-1086-4d23-b526-de1d38cf3bf1',
    repository: 'bitbucket.org/acme/shop',
    trust: 'verified',
    claims: () => ({ ...bitbucketClaims(), ...BITBUCKET_IDS }),
  },
  async ({ files: [pipelines], tokens, env }) => {
    const audience = 'ari:cloud:bitbucket::workspace/33333333-3333-3333-3333-333333333333'
    const idToken = { BITBUCKET_STEP_OIDC_TOKEN: await tokens.issue(audience) }
    assertSucceeded([await runBitbucketPipelines(pipelines?.text ?? '', { ...variables.BITBUCKET, ...env }, idToken)])
  },
)

const BITBUCKET_IDS = {
  repositoryUuid: '{22222222-2222-2222-2222-222222222222}',
  workspaceUuid: '{33333333-3333-3333-3333-333333333333}',
}

testPage(
  'azure-pipelines.md',
  {
    ...{ ci_system: 'azure-pipelines', external_run_id: '5021', trust: 'verified' },
    repository: 'dev.azure.com/acme/web/shop',
    claims: (rpo_ver) => ({ ...azureClaims(), rpo_ver, ...AZURE_IDS }),
  },
  async ({ files: [pipeline], tokens, env }) => {
    const agent = { ...variables.AZURE, ...env, SYSTEM_OIDCREQUESTURI: `${tokens.url}/oidctoken` }
    assertSucceeded([await runAzurePipeline(pipeline?.text ?? '', agent, { 'System.AccessToken': tokens.secret })])
  },
)

const AZURE_IDS = {
  org_id: '11111111-1111-1111-1111-111111111111',
  rpo_id: '22222222-2222-2222-2222-222222222222',
}

testPage(
  'circleci.md',
  {
    ...{ ci_system: 'circleci', external_run_id: '7d7d7d7d-4444-4d7d-8d7d-7d7d7d7d7d7d', trust: 'self_reported' },
    claims: () => ({
      sub: 'org/ORGANIZATION/project/PROJECT/user/8f8f8f8f/vcs-origin/github.com/acme/shop/vcs-ref/refs/heads/main',
    }),
  },
  async ({ files: [config], tokens, env }) => {
    const job = { ...variables.CIRCLECI, ...env, CIRCLE_OIDC_TOKEN_V2: await tokens.issue('ORGANIZATION') }
    assertSucceeded([await runCircleConfig(config?.text ?? '', job)])
  },
)

/** `buildkite-agent oidc request-token --audience A`, as the endpoint of this test issues tokens. */
const BUILDKITE_AGENT = `#!/bin/sh
[ "$1 $2 $3" = "oidc request-token --audience" ] || exit 64
exec curl -sSf -H "Authorization: Bearer $BUILDKITE_AGENT_ACCESS_TOKEN" "$BUILDKITE_AGENT_ENDPOINT/text?audience=$4"
`

testPage(
  'buildkite.md',
  {
    ...{ ci_system: 'buildkite', external_run_id: '4735ba57-80d0-46e2-8fa0-b28223a86586', trust: 'self_reported' },
    claims: (sha) => ({
      sub: `organization:acme:pipeline:shop:ref:refs/heads/main:commit:${sha}:step:test`,
      organization_slug: 'acme',
      pipeline_slug: 'shop',
    }),
  },
  async ({ files: [pipeline], tokens, env }) => {
    const agent = { BUILDKITE_AGENT_ENDPOINT: tokens.url, BUILDKITE_AGENT_ACCESS_TOKEN: tokens.secret }
    const job = { ...variables.BUILDKITE, ...env, ...agent }
    assertSucceeded([await runBuildkitePipeline(pipeline?.text ?? '', job, BUILDKITE_AGENT)])
  },
)

testPage(
  'jenkins.md',
  { ci_system: 'jenkins', external_run_id: 'acme/shop/main/17', trust: 'self_reported' },
  async ({ files: [jenkinsfile], env: { SHIPLOCK_KEY = '', ...env } }) => {
    const run = { env: { ...variables.JENKINS, ...env }, credentials: { 'shiplock-key': SHIPLOCK_KEY } }
    assertSucceeded(await runJenkinsfile(jenkinsfile?.text ?? '', run))
  },
)

testPage(
  'shell.md',
  { ci_system: 'shell', external_run_id: null, trust: 'self_reported' },
  async ({ files: [script], organization, env }) => {
    const played = runScript(script?.text ?? '', env).then((log) => assertSucceeded([log]))
    await Promise.all([played, approve(organization)])
  },
)
