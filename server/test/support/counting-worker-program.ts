import { setTimeout as delay } from 'node:timers/promises'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Job } from '../../src/platform/queue/job.ts'
import { definePayload, integer } from '../../src/platform/queue/payload.ts'
import { startWorker } from '../../src/platform/queue/worker.ts'

// A worker that notes when each of its jobs starts and ends, until it is stopped or killed.
const { connection, concurrency } = JSON.parse(process.argv[2] as string)
const sql = openSql(connection, { max: concurrency, applicationName: 'counting worker' })
const JOB_MS = 5

const count: Job<Sql, { n: number }> = {
  name: 'test.count',
  payload: definePayload({ n: integer }),
  attemptsMax: 3,
  async run(db, { n }) {
    // The transaction ends with the process, so that a killed one runs nothing.
    await db.begin(async (tx) => {
      const [{ free }] = await tx<[{ free: boolean }]>`select pg_try_advisory_xact_lock(1, ${n}) as free`
      await tx`update counted set collisions = collisions + ${free ? 0 : 1} where n = ${n}`
      await delay(JOB_MS)
      await tx`update counted set runs = runs + 1 where n = ${n}`
    })
  },
}

const jobs = [count] as Job<Sql, never>[]
const worker = await startWorker({
  ...{ address: connection, context: sql, jobs, scheduled: [], log: createLog('fatal'), concurrency },
})
process.send?.('working')
process.channel?.unref()
process.once('SIGTERM', async () => {
  await worker.stop(10_000)
  await sql.end()
})
