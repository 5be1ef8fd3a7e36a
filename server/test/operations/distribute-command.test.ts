import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createEmptyTestDatabase } from '../support/database.ts'
import { runProgram } from '../support/program.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-distribute-'))
let database: Awaited<ReturnType<typeof createEmptyTestDatabase>>

before(async () => {
  database = await createEmptyTestDatabase()
})
after(async () => {
  await database?.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('migrate --distribute changes nothing and says what to do on a database without Citus', async () => {
  for (const more of [[], ['--dry-run'], ['--json']]) {
    const refused = await runProgram(dataDir, ['migrate', '--distribute', ...more], { DATABASE_URL: database.url })
    assert.equal(refused.code, 1, refused.stderr)
    assert.match(refused.stderr, /has no extension "citus"\. Install Citus on all servers/)
  }
  const migrated = await runProgram(dataDir, ['migrate'], { DATABASE_URL: database.url })
  assert.match(migrated.stdout, /^Applied 0001_baseline\.sql/)
})

test('--dry-run needs --distribute', async () => {
  const refused = await runProgram(dataDir, ['migrate', '--dry-run'], { DATABASE_URL: database.url })
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--dry-run needs --distribute/)
})
