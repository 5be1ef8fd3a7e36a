// A thread that reads many rows, and tells how much memory remains of them when only the young
// generation is collected.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { type DatabaseAddress, type Db, openSql } from '../../src/platform/db/sql.ts'

type Asked = { connection: DatabaseAddress; kind: 'statements' | 'transactions' }

const RESULT_CHARS = 1000
const READS = 5000

const { connection, kind } = workerData as Asked
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void
const sql = openSql(connection, { max: 1, applicationName: 'memory' })
const readRow = (db: Db, at: number) => db`select ${`${at}`.padEnd(RESULT_CHARS)} as text`
const read = { statements: (at: number) => readRow(sql, at), transactions: inTransaction }

await readMany()
collect({ type: 'major' })
const before = process.memoryUsage().heapUsed
await readMany()
collect({ type: 'minor' })
parentPort?.postMessage({ kept: process.memoryUsage().heapUsed - before, read: READS * RESULT_CHARS })
await sql.end()

async function readMany(): Promise<void> {
  for (let at = 0; at < READS; at += 1) await read[kind](at)
}

function inTransaction(at: number) {
  return sql.begin((tx) => readRow(tx, at))
}
