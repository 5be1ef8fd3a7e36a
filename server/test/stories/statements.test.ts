import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConnectedServer, startConnectedServer } from '../support/connected-server.ts'
import type { Repository } from '../support/hosts/types.ts'
import type { Json } from '../support/json.ts'
import { openStatement } from '../support/statements.ts'
import { assertNothingFailed, BUILD_AND_DEPLOY, mergeChange, REASON } from '../support/stories.ts'

let server: ConnectedServer
let shop: Repository

before(async () => {
  server = await startConnectedServer()
  const { fake } = server
  fake.addUser('ada', { name: 'Ada Lovelace' })
  shop = fake.addRepository('acme/shop')
  fake.addEnvironment(shop, 'production', { ours: true })
  await server.connect('acme')
  const gate = ['--name', 'Production', '--environment', 'production', '--allow-api-keys']
  await server.command('gate', 'create', '--org', 'default', ...gate)
})
after(() => server?.close())

async function statement(path: string): Promise<Json> {
  const data = await server.get(`/v1/provenance/${path}`)
  return openStatement({ status: 200, body: { data }, text: '', headers: new Headers() })
}

test('a merged change that was deployed has a change, a lineage and a verification statement', async () => {
  const { fake } = server
  const merged = mergeChange(fake, shop)
  const story = fake.startRun(shop, { jobs: BUILD_AND_DEPLOY }).finish('Compile it')
  await server.settled()
  const id = `gh_deployment_${story.deployment('deploy').id}`
  assert.equal((await server.post(`/v1/deployments/${id}/approve`, { reason: REASON })).status, 200)
  await server.settled()
  story.finish('deploy')
  await server.until(
    () => server.get('/v1/changes'),
    (changes) => changes.length > 0,
  )
  const path = await statement(`deployments/${id}/lineage/statement`)
  const { change, deployment, runs } = path.predicate
  assert.deepEqual(path.subject[0].digest, { gitCommit: merged.sha })
  assert.deepEqual([deployment.status, deployment.approvals[0].reason], ['success', REASON])
  assert.deepEqual(
    runs.map((run: Json) => [run.trust, run.attempts.length]),
    [['verified', 1]],
  )
  assert.equal(change.record.merge_sha, merged.sha)
  const record = await statement(`changes/${change.id}/statement`)
  assert.equal(record.predicate.record.pull_request.number, change.record.pull_request.number)
  const { predicate } = await statement(`deployments/${id}/verification`)
  assert.equal(predicate.verificationResult, 'PASSED')
  assert.ok(predicate.verifiedLevels.includes('SHIPLOCK_GATED'))
  await assertNothingFailed(server)
})

test('statements keep their bytes when the base URL of the server changes', async () => {
  const [{ id }] = await server.get('/v1/deployments')
  const paths = ['lineage/statement', 'verification'].map((name) => `/v1/provenance/deployments/${id}/${name}`)
  const issued = await Promise.all(paths.map((path) => server.get(path)))
  const { url } = server
  await server.restart()
  assert.notEqual(server.url, url)
  assert.deepEqual(await Promise.all(paths.map((path) => server.get(path))), issued)
})
