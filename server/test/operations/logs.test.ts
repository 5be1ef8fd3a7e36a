import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logSlowStatements } from '../../src/platform/db/client/statement-metrics.ts'
import { createLog } from '../../src/platform/log.ts'
import { enqueue } from '../../src/platform/queue/job.ts'
import { withWork } from '../../src/platform/tracing.ts'
import { startWork } from '../../src/start/work.ts'
import { startTestApi } from '../support/api.ts'
import { listJobs } from '../support/queue.ts'
import { createUpload, putFile } from '../support/reports.ts'

type Line = {
  msg: string
  request_id?: string
  org_id?: string
  job?: string
  job_id?: string
  [field: string]: unknown
}

function keepingLog() {
  const lines: Line[] = []
  const log = createLog('debug', { write: (text: string) => void lines.push(JSON.parse(text)) })
  return { log, lines, text: () => lines.map((line) => JSON.stringify(line)).join('\n') }
}

test('one search finds the lines of a request and of the jobs that it caused, with organization and job', async () => {
  const { log, lines } = keepingLog()
  const api = await startTestApi({ log, env: { SHIPLOCK_SLOW_QUERY_MS: '1' } })
  const caller = await api.caller()
  const bytes = Buffer.from('this is no report')
  const created = await createUpload(api, caller, bytes)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  const headers = { 'x-request-id': 'the-one' }
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key, headers })
  logSlowStatements({ log, slowMs: 0 })
  const worker = await startWork(api.services, api.database)
  const ofJob = () => lines.filter(({ request_id, job }) => request_id === 'the-one' && job === 'security.read-upload')
  while (ofJob().length === 0) await api.request('GET', '/healthz')
  await worker.close()
  await api.close()

  const request = lines.find(({ msg, request_id }) => msg === 'Request' && request_id === 'the-one')
  const { org_id, method, route, status } = request as Line
  assert.deepEqual(
    [org_id, method, route, status],
    [caller.orgId, 'POST', '/v1/security/uploads/:uploadId/complete', 200],
  )
  const [line] = ofJob()
  assert.match(line?.job_id ?? '', /^\d+$/)
  assert.equal(line?.org_id, caller.orgId)
})

test('lines of simultaneous requests state their own ids, also after a body', async () => {
  const { log, lines } = keepingLog()
  const api = await startTestApi({ log })
  const caller = await api.caller()
  logSlowStatements({ log, slowMs: 0 })
  const run = (n: number) => ({
    ci_system: 'jenkins',
    external_run_id: `${n}`,
    repository: 'github.com/acme/shop',
    commit_sha: '0123456789abcdef0123456789abcdef01234567',
    pipeline_name: 'build',
  })
  const ids = Array.from({ length: 20 }, (_, n) => `request-${n}`)
  const send = (id: string, n: number) =>
    api.request('PATCH', '/v1/ci/runs/unknown', { key: caller.key, body: run(n), headers: { 'x-request-id': id } })
  await Promise.all(ids.map(send))
  await api.close()
  for (const id of ids)
    assert.ok(
      lines.some(({ msg, request_id }) => msg === 'Request' && request_id === id),
      id,
    )
})

test('a slow statement is logged with its text, duration and request, and without values', async (context) => {
  const { log, lines, text } = keepingLog()
  const api = await startTestApi({ log })
  context.after(() => api.close())
  const { sql } = api.services
  logSlowStatements({ log, slowMs: 100 })
  await sql`select pg_sleep(0.15), ${'a-secret-value'}::text`
  const wrong = sql`select (${'another-secret'}::text || n)::int from generate_series(1, 1) n, pg_sleep(0.15)`
  await assert.rejects(wrong.execute(), /another-secret/)
  await sql`select 1`
  logSlowStatements(null)
  await sql`select pg_sleep(0.15)`
  const slow = lines.filter(({ msg }) => msg === 'Slow database statement')
  const sleeping = slow.filter(({ statement }) => String(statement).includes('pg_sleep'))
  assert.equal(sleeping[0]?.statement, 'select pg_sleep(0.15), $1::text')
  assert.ok(Number(sleeping[0]?.duration_ms) >= 100)
  assert.equal(sleeping.length, 2, text())
  assert.doesNotMatch(text(), /a-secret-value|another-secret/)
})

test('a job keeps one row while it waits, whichever requests cause it', async () => {
  const api = await startTestApi()
  const { sql } = api.services
  const job = { name: 'codehosts.apply-deliveries', attemptsMax: 3, once: ({ shard }: { shard: number }) => `${shard}` }
  await enqueue(sql, job, { shard: 1 })
  for (const request_id of ['one', 'two'])
    await withWork({ fields: { request_id }, span: null }, () => enqueue(sql, job, { shard: 1 }))
  await withWork({ fields: { request_id: 'three' }, span: null }, () => enqueue(sql, job, { shard: 2 }))
  const rows = await listJobs(sql)
  assert.deepEqual(
    rows.map(({ payload, request_id }) => [payload.shard, request_id]),
    [
      [1, null],
      [2, 'three'],
    ],
  )
  await api.close()
})
