import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json } from '../../server/test/support/json.ts'
import {
  azureClaims,
  bitbucketClaims,
  githubClaims,
  gitlabClaims,
} from '../../server/test/support/oidc-claims.ts'
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
import { type Block, readPage } from './support/pages.ts'
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
type Promised = { ci_system: string; external_run_id: string; trust: string; attempt?: number; status?: string }

type Play = { files: Block[]; organization: Organization; tokens: TokenEndpoint; env: Env }

/**
 * Follows a page of docs/ci: runs its commands on the server, plays its file, and checks what the
 * server then knows. `claims` are those of the job's OIDC token.
 */
function testPage(page: string, promised: Promised, claims: Json, play: (page: Play) => Promise<void>): void {
  test(`docs/ci/${page}: the file reports a ${promised.trust} run with findings`, async (t) => {
    const slug = page.replace('.md', '')
    const organization = await shiplock.createOrganization(slug)
    const tokens = await startTokenEndpoint(claims)
    t.after(() => tokens.close())
    const { commands, files } = readPage(page, shiplock.url)
    const env: Env = { SHIPLOCK_CLI: cli.path }
    for (const command of commands) {
      const printed = await shiplock.administer(adapted(command, slug, tokens))
      if (printed.key) env.SHIPLOCK_KEY = printed.key
    }
    await play({ files, organization, tokens, env })
    await assertReported(organization, promised)
  })
}

/** The command with the organization of this test, and with the issuer on loopback. */
function adapted(command: string, slug: string, { issuer }: TokenEndpoint): string {
  const own = command.replace('--org default', `--org ${slug}`)
  if (!own.includes(' trust create ')) return own
  return own.includes('--issuer ') ? own.replace(/--issuer \S+/, `--issuer ${issuer.url}`) : `${own} --issuer ${issuer.url}`
}

async function assertReported({ get, post, until }: Organization, promised: Promised): Promise<void> {
  const [run, ...others] = await get('/v1/runs')
  assert.equal(others.length, 0, 'all jobs report the same run')
  const { ci_system, external_run_id, trust, attempt = 1, status = 'success' } = promised
  const expected = { ci_system, trust, status, commit_sha: commit, branch: 'main', run_attempt: attempt }
  const shown = Object.keys(expected).map((name) => [name, run[name]])
  assert.deepEqual(Object.fromEntries(shown), expected)
  const { status: known, body } = await post('/v1/ci/runs', {
    ...{ ci_system, external_run_id, attempt, commit_sha: commit, pipeline_name: 'build' },
    repository: run.repository_full_name,
  })
  assert.deepEqual([known, body.data?.id], [200, run.id], JSON.stringify(body))
  const isComplete = (findings: Json[]) => findings.length >= REPORTED.findings
  const findings = await until('/v1/security/findings?limit=100', isComplete)
  assert.equal(findings.length, REPORTED.findings)
  assert.ok(findings.every(({ origin, commit_sha }) => origin === 'report' && commit_sha === commit))
}

function succeeded({ succeeded, log }: Log): void {
  assert.ok(succeeded, log)
}
