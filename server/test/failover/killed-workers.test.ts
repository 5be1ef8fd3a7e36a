import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createUpload, getUpload, putFile } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { skipPauses, startWorkerProcess, type WorkerProcess } from '../support/workers.ts'

const UPLOADS = 60
const RESULTS = 200
const WORKERS = 3
const KILLS_MIN = 5
const KILL_EVERY_MS = 1000
const MS_MAX = 300_000

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

/** A report of a repository of its own, so that every report has findings of its own. */
async function queueReport(at: number): Promise<string> {
  const results = Array.from({ length: RESULTS }, (_, of) => sarifResult(`r${of}`))
  const bytes = Buffer.from(JSON.stringify(sarif(results, `tool ${at}`)))
  const created = await createUpload(api, caller, bytes, { repository: `acme/app-${at}` })
  assert.equal(created.status, 201, created.text)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  return id
}

test('three workers, one of which is killed every second: each report is read, and its findings are there once', async (t) => {
  const ids: string[] = []
  for (let at = 0; at < UPLOADS; at += 1) ids.push(await queueReport(at))
  const workers: WorkerProcess[] = Array.from({ length: WORKERS }, () => startWorkerProcess(api))
  const startedAt = performance.now()
  let kills = 0
  let interruptions = 0
  for (let isDone = false; !isDone || kills < KILLS_MIN; ) {
    assert.ok(performance.now() - startedAt < MS_MAX, `${kills} kills, and not every report is read`)
    await delay(KILL_EVERY_MS)
    const victim = workers[kills % WORKERS] as WorkerProcess
    await victim.ready
    await victim.end('SIGKILL')
    workers[kills % WORKERS] = startWorkerProcess(api)
    kills += 1
    const [row] = await api.services.sql<[{ interrupted: number; left: number }]>`
      select count(*) filter (where flags ? 'interruptions')::int as interrupted,
        count(*) filter (where attempts < max_attempts or locked_at is not null)::int as left
      from graphile_worker._private_jobs`
    interruptions = Math.max(interruptions, row.interrupted)
    await skipPauses(api)
    isDone = row.left === 0
  }
  await Promise.all(workers.map((worker) => worker.end('SIGTERM')))

  for (const id of ids) assert.equal((await getUpload(api, caller, id)).status, 'finished')
  const [found] = await api.services.sql<[{ findings: number; failed: number }]>`
    select (select count(*)::int from findings where org_id = ${caller.orgId}) as findings,
      (select count(*)::int from graphile_worker._private_jobs) as failed`
  assert.deepEqual({ ...found }, { findings: UPLOADS * RESULTS, failed: 0 })
  t.diagnostic(
    `${UPLOADS} reports read while ${kills} workers were killed; up to ${interruptions} jobs interrupted at a time`,
  )
})
