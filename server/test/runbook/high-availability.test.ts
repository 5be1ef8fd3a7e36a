import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { runSection } from '../support/runbook.ts'

let directory: string
let database: TestDatabase

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-availability-'))
  database = await createTestDatabase()
})
after(async () => {
  await database?.drop()
  rmSync(directory, { recursive: true, force: true })
})

test('Processes on several machines: the shared database is migrated and checked', async () => {
  const env = { SHIPLOCK_DATA_DIR: directory, DATABASE_URL: database.url }
  await runSection('operations/high-availability.md', 'Processes on several machines', { cwd: directory, env })
})
