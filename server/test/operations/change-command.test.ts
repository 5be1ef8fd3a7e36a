import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/start/database.ts'
import { openServices } from '../../src/start/open-services.ts'
import { HEAD, MERGE, mergedRecord, pushedRecord } from '../support/change-records.ts'
import type { Json } from '../support/json.ts'
import { type Running, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'
import { storeChange } from '../support/stored-changes.ts'

let dataDir: string
let running: Running

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-changes-'))
  running = await startProgram(dataDir)
  await insertChanges()
})
after(async () => {
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A merged and a pushed change of the default organization. */
async function insertChanges(): Promise<void> {
  const config = readConfig({ SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' })
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config, () => {})
  opened.defer(() => database.close())
  const { services, close } = await openServices(config, database, { applicationName: 'test', connections: 1 })
  opened.defer(close)
  const [organization] = await services.sql<[{ id: string }]>`select id from organizations`
  await storeChange(services, { orgId: organization.id }, mergedRecord())
  await storeChange(services, { orgId: organization.id }, pushedRecord({ branch: 'release' }))
}

async function list(...args: string[]): Promise<Json[]> {
  return (await printedBy(dataDir, ['change', 'list', '--org', 'default', ...args])) as Json[]
}

const refused = (code: number, line: RegExp, ...args: string[]) =>
  assertRefused(dataDir, code, line, ['change', 'list', ...args])

test('change list prints the newest changes as the API lists them', async () => {
  const [pushed, merged, ...others] = await list()
  assert.deepEqual(others, [])
  assert.deepEqual([pushed.branch, pushed.deviations, pushed.chain.index], ['release', ['direct_push'], 1])
  assert.deepEqual([merged.pull_request.number, merged.deviations, merged.omitted], [7, [], []])
})

test('change list filters by branch, commit, deviation, repository and number', async () => {
  const branches = async (...args: string[]) => (await list(...args)).map(({ branch }) => branch)
  assert.deepEqual(await branches('--branch', 'main'), ['main'])
  assert.deepEqual(await branches('--deviation', 'direct_push'), ['release'])
  assert.deepEqual(await branches('--commit', HEAD), ['main'])
  assert.deepEqual(await branches('--commit', MERGE), ['release', 'main'])
  assert.deepEqual(await branches('--repository', 'acme/unknown'), [])
  assert.deepEqual(await branches('--limit', '1'), ['release'])
})

test('change list refuses values that it does not know', async () => {
  await refused(2, /--deviation must be one of direct_push, /, '--org', 'default', '--deviation', 'late')
  await refused(2, /--commit must be a full SHA, not "abc123"/, '--org', 'default', '--commit', 'abc123')
  await refused(2, /--limit must be an integer from 1 to 1000, not "0"/, '--org', 'default', '--limit', '0')
  await refused(1, /organization/i, '--org', 'nobody')
})
