import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sql } from '../../src/platform/db/sql.ts'
import type { Running } from '../support/program.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import { until } from '../support/until.ts'
import { Client } from './client.ts'
import { createInstallation, type Installation } from './installation.ts'

const WORKERS = 3
const KILLS = 12
const KILL_EVERY_MS = 1000
/** So that a slow machine, on which a worker starts for long, gets on with its jobs. */
const LIVES_MS_MIN = 1000
const RESULTS = 300
/** Reports that wait for the workers. */
const WAITING = 8
const FEED_EVERY_MS = 50
const WAIT_MS_MAX = 300_000

test('three workers, one of which is killed every second: each report is read, with its effects once', async (t) => {
  await using site = await createInstallation()
  const { sql, programs, key } = site
  await noteInterruptions(sql)
  const server = await programs.start('server')
  const feed = startFeed(new Client(server.ready.url, key), sql)
  const seconds = await killWorkers(site)
  const ids = await feed.stop()
  await until('each report is read', WAIT_MS_MAX, async () => (await countUnread(sql)) === 0)

  const uploads = await sql<{ id: string; status: string; findings: number; created: number }[]>`
    select id, status, findings, (outcome ->> 'created')::int as created
    from security_uploads`
  assert.deepEqual(uploads.map(({ id }) => id).sort(), ids.sort())
  for (const { id, ...read } of uploads)
    assert.deepEqual({ ...read }, { status: 'finished', findings: RESULTS, created: RESULTS }, id)
  const [found] = await sql<[{ findings: number; issues: number; failed: number; interruptions: number }]>`
    select (select count(*) from findings) as findings,
      (select count(*) from security_issues) as issues,
      (select count(*) from jobs where state = 'failed') as failed,
      (select count(*) from noted_interruptions) as interruptions`
  const all = uploads.length * RESULTS
  assert.deepEqual([found.findings, found.issues, found.failed], [all, all, 0])
  assert.ok(found.interruptions > 0, 'no worker was killed in the middle of a job')
  t.diagnostic(
    `${uploads.length} reports read, ${KILLS} workers killed within ${seconds.toFixed(0)} s, ${found.interruptions} jobs interrupted`,
  )
})

/** Returns how long it took, in seconds. */
async function killWorkers({ programs }: Installation): Promise<number> {
  const start = async (): Promise<Running> => {
    const worker = await programs.start('worker')
    await delay(LIVES_MS_MIN)
    return worker
  }
  const workers = Array.from({ length: WORKERS }, start)
  const startedAt = performance.now()
  for (let kills = 0; kills < KILLS; kills += 1) {
    const [victim] = await Promise.all([workers.shift(), delay(KILL_EVERY_MS)])
    await victim?.stop('SIGKILL')
    workers.push(start())
  }
  await Promise.all(workers)
  return (performance.now() - startedAt) / 1000
}

/** Uploads reports while few are waiting, each for a repository and with findings of its own. */
function startFeed(client: Client, sql: Sql) {
  const ids: string[] = []
  let isStopped = false
  const feed = async () => {
    while (!isStopped) {
      if ((await countUnread(sql)) < WAITING) ids.push(await queueReport(client, ids.length))
      else await delay(FEED_EVERY_MS)
    }
  }
  const fed = feed()
  // A failure is seen when the test stops the feed.
  fed.catch(() => {})
  const stop = async () => {
    isStopped = true
    await fed
    return ids
  }
  return { stop }
}

async function queueReport(client: Client, at: number): Promise<string> {
  const results = Array.from({ length: RESULTS }, (_, of) => sarifResult(`r${of}`))
  const bytes = Buffer.from(JSON.stringify(sarif(results, `tool ${at}`)))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = { filename: 'report.sarif', size: bytes.length, sha256, repository: `acme/app-${at}` }
  const { upload, put } = await client.done('POST', '/v1/security/uploads', body)
  await client.put(put, Readable.from([bytes]))
  await client.done('POST', `/v1/security/uploads/${upload.id}/complete`)
  return upload.id
}

async function countUnread(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from security_uploads where status not in ('finished', 'failed')`
  return row.count
}

/** The queue forgets its jobs, so each time that one was lost is noted. */
async function noteInterruptions(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create table noted_interruptions (job_id bigint not null);
    create function note_interruption() returns trigger language plpgsql as $$
      begin
        insert into noted_interruptions values (new.id);
        return null;
      end
    $$;
    create trigger note_interruption
    after update of interruptions on jobs
    for each row when (old.interruptions <> new.interruptions)
    execute function note_interruption()`)
}
