import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enqueue } from '../../src/platform/queue/job.ts'
import { listJobs } from '../support/queue.ts'
import { startRunLoad } from '../support/run-load.ts'
import { until } from '../support/until.ts'
import { PROMOTION, startCluster } from './cluster.ts'
import { createKeys } from './installation.ts'

const CLIENTS = 8
const UNAVAILABLE_MS_MAX = 10_000
const RUNS_BEFORE = 40
const RUNS_AFTER = 40
const WAIT_MS_MAX = 180_000

test('a lost primary server: after the promotion, everything acknowledged is there, once, and all processes go on by themselves', async (t) => {
  await using cluster = await startCluster()
  const servers = [
    await cluster.programs.start('server'),
    await cluster.programs.start('server'),
    await cluster.programs.start('server'),
  ]
  await cluster.programs.start('worker')
  const keys = await createKeys(cluster.primary.admin(), 4)
  let sent = 0
  const nextUrl = () => servers[sent++ % servers.length]?.ready.url
  const load = startRunLoad({ keys: keys.map(({ key }) => key), clients: CLIENTS, nextUrl, retryMs: 100 })
  await until('runs before', WAIT_MS_MAX, () => load.acknowledged.size >= RUNS_BEFORE)

  const killedAt = performance.now()
  await cluster.primary.kill()
  const standby = cluster.standby.admin()
  await until('the servers notice', WAIT_MS_MAX, () => load.unavailableAt.length > 0)
  await standby.unsafe(PROMOTION)
  const promotedAt = performance.now()
  const before = load.acknowledged.size
  await until('runs after', WAIT_MS_MAX, () => load.acknowledged.size >= before + RUNS_AFTER)
  const healthyAt = performance.now()
  await until('no more errors', WAIT_MS_MAX, () => performance.now() - (load.unavailableAt.at(-1) ?? 0) > 3000)
  await load.stop()

  const lastError = load.unavailableAt.at(-1) ?? killedAt
  assert.deepEqual(load.failures, [])
  assert.ok(lastError - promotedAt < UNAVAILABLE_MS_MAX, `503 until ${lastError - promotedAt} ms after the promotion`)
  const stored = await standby<{ id: string; external_run_id: string }[]>`
    select id, external_run_id from ci_runs where external_run_id like 'load-%'`
  const idOf = new Map(stored.map((run) => [run.external_run_id, run.id]))
  assert.equal(idOf.size, stored.length, 'no run exists twice')
  const lost = [...load.acknowledged].filter(([externalId, id]) => idOf.get(externalId) !== id)
  assert.deepEqual(lost, [])
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  t.diagnostic(
    `${load.acknowledged.size} runs acknowledged, 0 lost, ${load.mended} mended by the same call; ` +
      `${load.unavailableAt.length} × 503 from the loss until ${seconds(lastError - promotedAt)} s after the promotion, ` +
      `which ended ${seconds(promotedAt - killedAt)} s after the loss; ${RUNS_AFTER} more runs by ${seconds(healthyAt - promotedAt)} s`,
  )

  const job = { name: 'access.forget-request-counts', attemptsMax: 1 }
  await enqueue(standby, job, {})
  await until('the worker takes jobs', WAIT_MS_MAX, async () => (await listJobs(standby, job.name)).length === 0)

  // Notifications arrive again: a revoked key is refused long before the caches expire.
  const [revoked] = keys
  const ask = (url: string) => fetch(`${url}/v1/runs?limit=1`, { headers: { authorization: `Bearer ${revoked?.key}` } })
  for (const { ready } of servers) assert.equal((await ask(ready.url)).status, 200)
  assert.equal((await cluster.programs.run('key', 'revoke', revoked?.id ?? '')).code, 0)
  for (const { ready } of servers)
    await until('the key is refused', 15_000, async () => (await ask(ready.url)).status === 401)
})
