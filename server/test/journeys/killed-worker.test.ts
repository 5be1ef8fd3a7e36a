import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { work } from '../../src/work.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { countStates } from '../support/findings.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

const RESULTS = 300
const POLLS_MAX = 20_000

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

const PROGRAM = new URL('../support/worker-program.ts', import.meta.url).pathname

function startWorker(): ChildProcess {
  const settings = { SHIPLOCK_DATA_DIR: api.services.config.dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' }
  const argument = JSON.stringify({ settings, database: api.database })
  return spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'inherit', 'inherit'] })
}

/** Asks until a worker waits for the lock that the test holds: it has read the report and written nothing. */
async function untilWorkerWaits(): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const waiting = await api.services.sql`
      select from pg_stat_activity
      where datname = current_database()
        and application_name = 'worker to kill'
        and wait_event_type = 'Lock'`
    if (waiting.length > 0) return
  }
  throw new Error('No worker has come to wait.')
}

async function untilFinished(id: string) {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const upload = await getUpload(api, caller, id)
    if (upload.status === 'finished' || upload.status === 'failed') return upload
  }
  throw new Error('The upload was not read.')
}

test('a worker that is killed in the middle of a report: the next one reads it, once, and it is right', async () => {
  await uploadReport(api, caller, sarif([sarifResult('gone'), sarifResult('r1')]))
  api.clock.advance(1000)
  const bytes = Buffer.from(JSON.stringify(sarif(Array.from({ length: RESULTS }, (_, at) => sarifResult(`r${at}`)))))
  const created = await createUpload(api, caller, bytes)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })

  const holder = await api.services.sql.reserve()
  await holder`begin`
  await holder`lock table finding_streams in share row exclusive mode`
  const killed = startWorker()
  await untilWorkerWaits()
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  assert.equal((await getUpload(api, caller, id)).status, 'parsing')
  await holder`rollback`
  holder.release()

  const next = await work(api.services, api.database)
  try {
    const { status, error, counts } = await untilFinished(id)
    assert.equal(status, 'finished', error)
    assert.deepEqual([counts.findings, counts.created, counts.unchanged, counts.resolved], [RESULTS, RESULTS - 1, 1, 1])
    assert.deepEqual(await countStates(api, caller), { fixed: 1, open: RESULTS })
  } finally {
    await next.close()
  }
})
