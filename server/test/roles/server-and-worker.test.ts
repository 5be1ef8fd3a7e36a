import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { SCOPES } from '../../src/access/scopes.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { SeededRandom } from '../../src/platform/seeded-random.ts'
import { findLosses } from '../crash/checks/acknowledged.ts'
import { findInconsistencies } from '../crash/checks/consistency.ts'
import { Client } from '../crash/client.ts'
import { Journal, readJournal } from '../crash/journal.ts'
import { gateJourney } from '../crash/journeys/gates.ts'
import type { World } from '../crash/journeys/journey.ts'
import { personJourney } from '../crash/journeys/people.ts'
import { reportJourney } from '../crash/journeys/reports.ts'
import { runJourney } from '../crash/journeys/runs.ts'
import { uploadJourney } from '../crash/journeys/uploads.ts'
import { untilSettled } from '../crash/settled.ts'
import { acceptLink, configureGate, createApprover } from '../crash/sign-up.ts'
import { createEmptyTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { runRoles, urlAs } from '../support/run-roles.ts'

const TURNS = 8
const JOURNEYS = [runJourney, reportJourney, uploadJourney, gateJourney]

const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-roles-'))
let database: TestDatabase
let running: Running[] = []
let client: Client
let sql: Sql

const settingsAs = (role: string) => ({ DATABASE_URL: urlAs(role, database), SHIPLOCK_RATE_LIMIT_PER_MINUTE: '0' })

/** Commands migrate the database if that is due, so operators run them as the owner. */
async function command(...args: string[]) {
  const { code, json, stderr } = await runProgram(dataDir, [...args, '--json'], settingsAs('shiplock_owner'))
  assert.equal(code, 0, stderr)
  return json
}

before(async () => {
  database = await createEmptyTestDatabase()
  sql = openSql(database.connection, { max: 1, applicationName: 'test' })
  await runRoles(database)
  const migrated = await runProgram(dataDir, ['migrate'], settingsAs('shiplock_owner'))
  assert.equal(migrated.code, 0, migrated.stderr)
  await runRoles(database)
  await command('org', 'create', 'acme')
  const scopes = SCOPES.flatMap((scope) => ['--scope', scope])
  const { key } = await command('key', 'create', '--org', 'acme', '--name', 'test', ...scopes)
  const { link } = await command('user', 'invite', 'ada@example.com', '--org', 'acme', '--role', 'org_admin')
  await configureGate(dataDir, settingsAs('shiplock_owner'), 'acme')
  running = await Promise.all([
    startProgram(dataDir, 'server', settingsAs('shiplock_app')),
    startProgram(dataDir, 'worker', settingsAs('shiplock_worker')),
  ])
  const { url } = running[0]?.ready ?? {}
  const approver = await createApprover(dataDir, settingsAs('shiplock_owner'), 'acme')
  client = new Client({ url, key, approver, organization: 'acme', cookie: await acceptLink(url, link) })
})
after(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await sql?.end()
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('a server and a worker with their own roles do everything that clients and people ask for', async () => {
  const path = join(dataDir, 'acknowledged.jsonl')
  let made = 0
  const nextName = () => `roles-${++made}`
  const world: World = { client, journal: new Journal(path), random: new SeededRandom(1), nextName, runs: [] }
  for (let turn = 0; turn < TURNS; turn += 1) for (const journey of JOURNEYS) await journey(world)
  assert.deepEqual(await untilSettled(sql, () => {}), [])
  for (let turn = 0; turn < TURNS; turn += 1) await personJourney(world)
  assert.deepEqual(await untilSettled(sql, () => {}), [])
  const { entries } = readJournal(path)
  const kinds = [...new Set(entries.map(({ kind }) => kind))].sort()
  assert.deepEqual(kinds, ['artifact', 'decision', 'gate', 'key', 'policy', 'report', 'run', 'triage', 'upload'])
  assert.deepEqual(await findLosses(client, entries), [])
  assert.deepEqual(await findInconsistencies(sql, []), [])
})

test('a job that runs every minute has run without a refusal', async () => {
  const failed = await sql`
    select name, last_error
    from jobs
    where last_error is not null`
  assert.deepEqual([...failed], [])
})
