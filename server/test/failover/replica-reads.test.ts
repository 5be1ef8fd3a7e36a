import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRun } from '../support/ci-runs.ts'
import { until } from '../support/until.ts'
import { startCluster } from './cluster.ts'
import { createKeys } from './installation.ts'

const WRITES = 30
const WAIT_MS_MAX = 120_000

test('lists are read from the replica, never without what the caller has written through another server, and without it from the primary server', async (t) => {
  await using cluster = await startCluster()
  const { primary, standby, programs } = cluster
  const env = { SHIPLOCK_DATABASE_READ_URL: standby.url }
  const [writer, reader] = [await programs.start('server'), await programs.start('server', env)]
  const [key] = await createKeys(primary.admin(), 1)
  const headers = { authorization: `Bearer ${key?.key}`, 'content-type': 'application/json' }
  let written = 0
  const write = async () => {
    written += 1
    const body = JSON.stringify(newRun({ external_run_id: `replica-${written}` }))
    const answer = await fetch(`${writer.ready.url}/v1/ci/runs`, { method: 'POST', headers, body })
    assert.equal(answer.status, 201)
    return JSON.parse(await answer.text()).data.id
  }
  const newest = async () => {
    const answer = await fetch(`${reader.ready.url}/v1/runs?limit=1`, { headers })
    assert.equal(answer.status, 200)
    return JSON.parse(await answer.text()).data[0]?.id
  }
  const readsOf = async (server: typeof standby) => {
    const [row] = await server.admin()<[{ reads: number }]>`
      select coalesce(sum(seq_scan + idx_scan), 0)::int as reads
      from pg_stat_user_tables
      where relname = 'ci_runs'`
    return row.reads
  }

  await until('the replica is read from', WAIT_MS_MAX, async () => {
    await newest()
    return (await readsOf(standby)) > 0
  })
  const before = await readsOf(standby)
  for (let at = 0; at < WRITES; at += 1) {
    const id = await write()
    assert.equal(await newest(), id, 'the list has what was written before it')
  }
  const read = () => until('reads are counted', WAIT_MS_MAX, async () => (await readsOf(standby)) > before)
  await read()
  t.diagnostic(`${WRITES} lists, each right after a write; ${(await readsOf(standby)) - before} scans on the replica`)

  const metrics = await (await fetch(`${reader.ready.url}/metrics`)).text()
  for (const pool of ['shiplock api', 'shiplock api reads'])
    assert.match(metrics, new RegExp(`^shiplock_database_pool_connections_max\\{pool="${pool}"\\} 16$`, 'm'))
  assert.match(metrics, /^shiplock_replica_reads_total\{server="replica"\} [1-9]/m)

  await standby.admin()`select pg_wal_replay_pause()`
  const unseen = await write()
  assert.equal(await newest(), unseen, 'a replica that is behind is not read from')
  await standby.admin()`select pg_wal_replay_resume()`

  await primary.configure({ synchronous_standby_names: '' })
  await primary.admin()`select pg_reload_conf()`
  await standby.kill()
  const alone = await write()
  assert.equal(await newest(), alone, 'a replica that is lost is not read from')
})
