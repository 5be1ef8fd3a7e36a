import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { IngestClient } from '../support/ingest-client.ts'
import { githubClaims } from '../support/oidc-claims.ts'
import { type Issuer, startIssuer } from '../support/oidc-issuer.ts'
import { until } from '../support/until.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import { type Clients, JOURNEYS, type Journey } from './ci-load.ts'
import { Client } from './client.ts'
import { createInstallation, type Installation } from './installation.ts'

const ROUNDS = 2
const WAIT_MS_MAX = 180_000
/** The servers share them, and so must not make them themselves. */
const SHARED = { SHIPLOCK_SECRET_KEY: 'a secret key of the restarted servers' }

test('no request fails while servers and workers are restarted one after the other: runs, uploads, reports of jobs, gates', async (t) => {
  await using opened = new AsyncDisposableStack()
  const ports = [await freePort(), await freePort()]
  const balancer = opened.use(await startBalancer(ports))
  const issuer = await startIssuer()
  opened.defer(() => issuer.close())
  const site = opened.use(await createInstallation({ ...SHARED, SHIPLOCK_BASE_URL: balancer.url }))
  const { programs } = site
  const approver = await configure(site, issuer)
  const startServer = (port: number) => programs.start('server', { SHIPLOCK_PORT: String(port) })
  const servers = await Promise.all(ports.map(startServer))
  let worker = await programs.start('worker')

  const load = startLoad({ ...clientsOf(site, issuer, balancer), approver: new Client(balancer.url, approver) })
  let restarts = 0
  let during = 0
  const restart = async (work: () => Promise<unknown>) => {
    await load.goesOn()
    const before = load.ended()
    await work()
    restarts += 1
    during += load.ended() - before
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, port] of ports.entries())
      await restart(async () => {
        assert.equal(await servers[at]?.stop(), 0)
        servers[at] = await startServer(port)
      })
    await restart(async () => {
      assert.equal(await worker.stop(), 0)
      worker = await programs.start('worker')
    })
  }
  await load.goesOn()
  await load.stop()
  assert.deepEqual(load.failures, [])
  assert.ok(during > 0, 'nothing was sent during the restarts')
  t.diagnostic(`${load.ended()} journeys, ${during} of them ended during ${restarts} restarts, 0 failed`)
})

/** Returns a key that answers gates. */
async function configure({ programs }: Installation, { url }: Issuer): Promise<string> {
  const gate = ['--name', 'Production', '--environment', 'production', '--allow-api-keys']
  const trust = ['--name', 'jobs', '--issuer', url, '--provider', 'github', '--condition', 'repository=acme/shop']
  const run = async (...args: string[]) => {
    const { code, stderr, json } = await programs.run(...args, '--org', 'acme', '--json')
    assert.equal(code, 0, stderr)
    return json
  }
  await run('gate', 'create', ...gate)
  await run('trust', 'create', ...trust, '--scope', 'write:ci')
  return (await run('key', 'create', '--name', 'approver', '--scope', 'write:deployments')).key
}

let jobs = 0

function clientsOf({ key }: Installation, issuer: Issuer, { url }: Balancer): Omit<Clients, 'approver'> {
  const ingest = () => {
    jobs += 1
    const run_id = String(jobs)
    const now = Math.floor(Date.now() / 1000)
    const claims = { ...githubClaims(), run_id, aud: url, iat: now, nbf: now, exp: now + 300 }
    return new IngestClient({ url, provider: 'github', token: () => issuer.sign(claims) })
  }
  return { client: new Client(url, key), ingest }
}

/** Each journey again and again, until it is stopped or one fails. */
function startLoad(clients: Clients) {
  const failures: string[] = []
  const counts = new Map(Object.keys(JOURNEYS).map((name) => [name, 0]))
  let isStopped = false
  const repeat = async ([name, journey]: [string, Journey]) => {
    while (!isStopped && failures.length === 0) {
      await journey(clients).then(
        () => counts.set(name, (counts.get(name) ?? 0) + 1),
        (error: Error) => failures.push(`${name}: ${error.message} ${error.cause ?? ''}`),
      )
    }
  }
  const repeated = Promise.all(Object.entries(JOURNEYS).map(repeat))
  /** Waits until each journey has ended once more. */
  const goesOn = async () => {
    const before = new Map(counts)
    const isOn = () => [...counts].every(([name, count]) => count > (before.get(name) ?? 0))
    await until('each journey goes on', WAIT_MS_MAX, () => isOn() || failures.length > 0)
    assert.deepEqual(failures, [])
  }
  const stop = async () => {
    isStopped = true
    await repeated
  }
  return { failures, ended: () => [...counts.values()].reduce((sum, count) => sum + count, 0), goesOn, stop }
}
