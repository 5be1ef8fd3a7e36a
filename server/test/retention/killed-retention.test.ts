import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { assignPlan } from '../../src/access/manage-access.ts'
import { DAY_MS } from '../../src/platform/clock.ts'
import { listChains, verifyChains } from '../../src/provenance/chain/verify-chains.job.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { listRemoved } from '../../src/retention/retention.store.ts'
import { countExpired } from '../../src/retention/retention-figures.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { storeExpiredRuns } from '../support/expired-runs.ts'
import { furnish } from '../support/furnish.ts'
import { countRowsOf } from '../support/organization-rows.ts'

const PROGRAM = new URL('../support/retention-program.ts', import.meta.url).pathname
const RUNS = 6000
const KILLS = 5
const WAITS_MS_MAX = 120_000

let killed: TestApi
let whole: TestApi
before(async () => {
  killed = await startTestApi()
  whole = await startTestApi()
  for (const api of [killed, whole]) {
    const owner = await api.caller()
    await furnish(api, owner)
    await storeExpiredRuns(api.services.sql, owner.orgId, RUNS)
    await assignPlan(api.services, owner.slug, 'free')
    api.clock.advance(100 * DAY_MS)
  }
})
after(async () => {
  await killed?.close()
  await whole?.close()
})

function start(api: TestApi): ChildProcess {
  const settings = { SHIPLOCK_DATA_DIR: api.services.config.dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' }
  const argument = JSON.stringify({ settings, database: api.database, now: api.clock.now() })
  return spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'inherit', 'inherit'] })
}

const totalOf = async ({ services }: TestApi) =>
  (await listRemoved(services.sql)).reduce((total, { removed }) => total + removed, 0)

/** Kills a process that removes, after it has removed something more. */
async function removeAndKill(api: TestApi): Promise<void> {
  const earlier = await totalOf(api)
  const child = start(api)
  const exited = once(child, 'exit')
  const until = performance.now() + WAITS_MS_MAX
  while (child.exitCode === null && (await totalOf(api)) === earlier)
    assert.ok(performance.now() < until, 'nothing was removed')
  child.kill('SIGKILL')
  await exited
}

test('a removal that was killed five times ends like one that was not, with the same figures', async () => {
  const expected = await countExpired(killed.services)
  assert.ok((expected.runs ?? 0) > 0, JSON.stringify(expected))
  for (let kill = 0; kill < KILLS; kill += 1) await removeAndKill(killed)
  const [first, second] = [start(killed), start(killed)]
  assert.deepEqual(await Promise.all([once(first, 'exit'), once(second, 'exit')]), [
    [0, null],
    [0, null],
  ])
  assert.equal(await removeExpired(whole.services, { sliceMs: Number.POSITIVE_INFINITY }), 'finished')
  const figures = async ({ services }: TestApi) =>
    (await listRemoved(services.sql)).map(({ kind, removed }) => [kind, removed])
  assert.deepEqual(await figures(killed), await figures(whole))
  assert.deepEqual(await countRowsOf(killed), await countRowsOf(whole))
})

test('afterwards nothing has expired, and the chains verify', async () => {
  const counts = await countExpired(killed.services)
  assert.deepEqual(
    Object.entries(counts).filter(([, count]) => count > 0),
    [],
  )
  const { links, breaks } = await verifyChains(killed.services, listChains(killed.services, null))
  assert.ok(links > 0)
  assert.deepEqual(breaks, [])
})
