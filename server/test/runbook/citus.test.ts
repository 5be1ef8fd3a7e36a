import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { joinTestDatabase } from '../support/citus.ts'
import { createEmptyTestDatabase } from '../support/database.ts'
import { runSection } from '../support/runbook.ts'

const directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-citus-'))
let database: Awaited<ReturnType<typeof createEmptyTestDatabase>>

before(async () => {
  database = await createEmptyTestDatabase()
})
after(async () => {
  await database?.drop()
  rmSync(directory, { recursive: true, force: true })
})

// `npm run test:citus` has a cluster. Elsewhere, the same commands have to be refused.
test('Distribute the tables: on a cluster, or the refusal without one', async () => {
  const env = { DATABASE_URL: database.url, SHIPLOCK_DATA_DIR: join(directory, 'data') }
  const hasCluster = await joinTestDatabase(database)
  const section = runSection('operations/citus.md', 'Distribute the tables', { cwd: directory, env })
  if (hasCluster) assert.match((await section).stdout, /Distributed \d+ tables by organization over \d+ workers?/)
  else await assert.rejects(section, /has no extension "citus"/)
})
