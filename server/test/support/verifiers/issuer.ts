import assert from 'node:assert/strict'
import { artifactOf, putArtifact } from '../ci-reports.ts'
import { type ConnectedServer, startConnectedServer } from '../connected-server.ts'
import type { Json } from '../json.ts'
import { BUILD_AND_DEPLOY, mergeChange, REASON } from '../stories.ts'

/** A DSSE envelope as the API returns it. */
export type Envelope = { payloadType: string; payload: string; signatures: { keyid: string; sig: string }[] }

/** The `data` of a statement, with `?bundle=true`. */
export type Issued = { envelope: Envelope; statement_digest: string; bundle: Json; unsigned: { log: Json } }

/** A server that has issued statements, and what a third party gets of it. */
export type Issuer = {
  url: string
  /** An API key that can only read statements. */
  key: string
  /** The public key of the organization (PEM), and the key of the log. */
  publicKey: string
  logKey: string
  /** A checkpoint of the log before the statements. */
  checkpoint: string
  /** The commit that a reviewed pull request landed, and that was deployed to production. */
  commit: string
  ids: { change: string; deployment: string; reported: string }
  /** Of the commit's change and deployment, and of a deployment whose run has an artifact. */
  statements: { change: Issued; lineage: Issued; summary: Issued; artifact: Issued }
  artifact: { path: string; bytes: string }
}

/** The server that `npm run test:provenance` started for all test files of its run. */
export function issuerUnderTest(): Issuer {
  const issuer = process.env.SHIPLOCK_TEST_ISSUER
  if (!issuer) throw new Error('This test needs a server with statements: npm run test:provenance')
  return JSON.parse(issuer)
}

const ARTIFACT = { path: 'dist/shop.tgz', bytes: 'the shop' }

/** Starts the real program, connected to a fake GitHub, and lets a change go to production. */
export async function startIssuer(): Promise<{ issuer: Issuer; close(): Promise<void> }> {
  const server = await startConnectedServer()
  try {
    return { issuer: await issueStatements(server), close: () => server.close() }
  } catch (error) {
    await server.close()
    throw error
  }
}

async function issueStatements(server: ConnectedServer): Promise<Issuer> {
  const { commit, deployment } = await deployChange(server)
  const reported = await deployArtifact(server, commit)
  const getText = async (path: string) => (await fetch(`${server.url}${path}`)).text()
  const checkpoint = await getText('/log/checkpoint')
  const issue = (path: string): Promise<Issued> => server.get(`/v1/provenance/${path}?bundle=true`)
  const lineage = await issue(`deployments/${deployment}/lineage/statement`)
  const change = openPayload(lineage).predicate.change.id
  const { keys } = await server.get('/v1/provenance/keys')
  return {
    url: server.url,
    key: await createKey(server, 'auditor', 'read:attestations'),
    publicKey: keys[0].pem,
    logKey: await getText('/log/key'),
    checkpoint,
    commit,
    ids: { change, deployment, reported },
    statements: {
      change: await issue(`changes/${change}/statement`),
      lineage,
      summary: await issue(`deployments/${deployment}/verification`),
      artifact: await issue(`deployments/${reported}/lineage/statement`),
    },
    artifact: ARTIFACT,
  }
}

export function openPayload({ envelope }: Pick<Issued, 'envelope'>): Json {
  return JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
}

async function createKey(server: ConnectedServer, name: string, scope: string): Promise<string> {
  return (await server.command('key', 'create', '--org', 'default', '--name', name, '--scope', scope)).key
}

/**
 * A reviewed pull request lands and goes to production, with the approval of a key and a reviewer.
 */
async function deployChange(server: ConnectedServer) {
  const { fake } = server
  fake.addUser('ada', { name: 'Ada Lovelace' })
  const shop = fake.addRepository('acme/shop')
  fake.addEnvironment(shop, 'production', { reviewers: ['grace'], ours: true })
  await server.connect('acme')
  const gate = ['--name', 'Production', '--environment', '*', '--allow-api-keys']
  await server.command('gate', 'create', '--org', 'default', ...gate)
  const merged = mergeChange(fake, shop)
  const run = fake.startRun(shop, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  await server.settled()
  const deployment = `gh_deployment_${run.deployment('deploy').id}`
  await approve(server, deployment)
  await server.settled()
  fake.review(run, 'production', 'approved', 'grace', 'Go')
  run.finish('deploy')
  await server.settled()
  await server.until(
    () => server.get('/v1/changes'),
    (changes) => changes.length > 0,
  )
  return { commit: merged.sha, deployment }
}

/** A run that a CI system reports builds an artifact of the commit and deploys it. */
async function deployArtifact(server: ConnectedServer, commit: string): Promise<string> {
  const key = await createKey(server, 'jenkins', 'write:ci')
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
  // As if the token of the run had stated it: what a key states is no subject.
  await server.sql`update ci_artifacts set trust = 'verified' where id = ${slot.artifact_id}`
  const { deployment_id } = await send('POST', '/v1/ci/gates', { run_id: run.id, environment: 'staging' })
  await approve(server, deployment_id)
  await send('PATCH', `/v1/ci/runs/${run.id}`, { status: 'success' })
  await server.sql`update ci_runs set trust = 'verified' where id = ${run.id}`
  await server.settled()
  return deployment_id
}

async function approve(server: ConnectedServer, deployment: string): Promise<void> {
  const key = await createKey(server, `approver of ${deployment}`, 'write:deployments')
  const { status, body } = await server.post(`/v1/deployments/${deployment}/approve`, { reason: REASON }, key)
  assert.equal(status, 200, JSON.stringify(body))
}
