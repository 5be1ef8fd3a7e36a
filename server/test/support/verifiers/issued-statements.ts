import assert from 'node:assert/strict'
import { type ConnectedServer, startConnectedServer } from '../connected-server.ts'
import type { Json } from '../json.ts'
import { artifactOf, putArtifact } from '../ci-reports.ts'
import { BUILD_AND_DEPLOY, mergeChange, REASON } from '../stories.ts'

/** A DSSE envelope as the API returns it. */
export type Envelope = { payloadType: string; payload: string; signatures: { keyid: string; sig: string }[] }

/** The `data` of a statement, with `?bundle=true`. */
export type Issued = { envelope: Envelope; statement_digest: string; bundle: Json; unsigned: { log: Json } }

/** A server that has issued statements, and what a third party gets of it. */
export type Issuer = {
  server: ConnectedServer
  /** An API key that can only read statements. */
  key: string
  /** The public key of the organization (PEM), and the key of the log. */
  publicKey: string
  logKey: string
  /** The commit that a reviewed pull request landed, and that was deployed to production. */
  commit: string
  /** The ids of the commit's change and deployment, and of a deployment whose run has an artifact. */
  ids: { change: string; deployment: string; reported: string }
  artifact: { path: string; bytes: string }
  /** Asks for a statement: `changes/{id}/statement`, `deployments/{id}/lineage/statement` … */
  issue(path: string): Promise<Issued>
}

const ARTIFACT = { path: 'dist/shop.tgz', bytes: 'the shop' }

/** Starts the real program, connected to a fake GitHub, and lets a change go to production. */
export async function startIssuer(): Promise<Issuer> {
  const server = await startConnectedServer()
  const { commit, deployment } = await deployChange(server)
  const reported = await deployArtifact(server, commit)
  const scopes = ['--scope', 'read:attestations']
  const { key } = await server.command('key', 'create', '--org', 'default', '--name', 'auditor', ...scopes)
  const issue = (path: string) => server.get(`/v1/provenance/${path}?bundle=true`)
  const lineage = await issue(`deployments/${deployment}/lineage/statement`)
  const { keys } = await server.get('/v1/provenance/keys')
  return {
    server,
    key,
    publicKey: keys[0].pem,
    logKey: await (await fetch(`${server.url}/log/key`)).text(),
    commit,
    ids: { change: openPayload(lineage).predicate.change.id, deployment, reported },
    artifact: ARTIFACT,
    issue,
  }
}

export function openPayload({ envelope }: Pick<Issued, 'envelope'>): Json {
  return JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
}

/** A reviewed pull request lands and goes to production, with the approval of a key and a reviewer. */
async function deployChange(server: ConnectedServer) {
  const { fake } = server
  fake.addUser('ada', { name: 'Ada Lovelace' })
  const shop = fake.addRepository('acme/shop')
  fake.addEnvironment(shop, 'production', { reviewers: ['grace'], customRules: ['ours'] })
  await server.connect('acme')
  const gate = ['--name', 'Production', '--environment', '*', '--allow-api-keys']
  await server.command('gate', 'create', '--org', 'default', ...gate)
  const merged = mergeChange(fake, shop)
  const run = fake.startRun(shop, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  await server.settled()
  const deployment = `gh_deployment_${run.deployment('deploy').id}`
  await approve(server, deployment)
  fake.review(run, 'production', 'approved', 'grace', 'Go')
  run.finish('deploy')
  await server.settled()
  return { commit: merged.sha, deployment }
}

/** A run that a CI system reports builds an artifact of the commit and deploys it. */
async function deployArtifact(server: ConnectedServer, commit: string): Promise<string> {
  const scopes = ['write:ci'].flatMap((scope) => ['--scope', scope])
  const { key } = await server.command('key', 'create', '--org', 'default', '--name', 'jenkins', ...scopes)
  const send = async (method: 'POST' | 'PATCH', path: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await answer.text()
    assert.ok(answer.ok, text)
    return JSON.parse(text).data
  }
  const run = await send('POST', '/v1/ci/runs', {
    ci_system: 'jenkins',
    external_run_id: 'shop/1',
    repository: 'github.com/acme/shop',
    commit_sha: commit,
    pipeline_name: 'build',
  })
  const reports = `/v1/ci/runs/${run.id}/reports`
  const artifacts = [artifactOf(ARTIFACT.path, ARTIFACT.bytes)]
  const report = await send('POST', reports, { job: { name: 'build' }, artifacts })
  const [slot] = report.uploads
  assert.equal((await putArtifact(slot, ARTIFACT.bytes)).status, 200)
  await send('POST', `${reports}/${report.report_id}/artifacts/complete`, { artifact_ids: [slot.artifact_id] })
  const { deployment_id } = await send('POST', '/v1/ci/gates', { run_id: run.id, environment: 'staging' })
  await approve(server, deployment_id)
  await send('PATCH', `/v1/ci/runs/${run.id}`, { status: 'success' })
  await server.settled()
  return deployment_id
}

async function approve(server: ConnectedServer, deployment: string): Promise<void> {
  const { status, body } = await server.post(`/v1/deployments/${deployment}/approve`, { reason: REASON })
  assert.equal(status, 200, JSON.stringify(body))
}
