import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { runAsProcess, startProgram } from '../support/program.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-database-url-'))

before(async () => {
  database = await createTestDatabase()
})
after(async () => {
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const FORMS: Record<string, () => string> = {
  'with a password': () => database.url,
  'that doctor prints': () => {
    const { host, port, database: name, user, password } = database.connection
    const passfile = join(dataDir, 'postgres-password')
    writeFileSync(passfile, `*:*:*:${user}:${password}\n`, { mode: 0o600 })
    return `postgres://${user}@${encodeURIComponent(host)}:${port}/${name}?passfile=${encodeURIComponent(passfile)}`
  },
  'with ?host=': () => {
    const { host, port, database: name, user, password } = database.connection
    return `postgresql://${user}:${password}@/${name}?host=${host}&port=${port}`
  },
}
for (const [form, url] of Object.entries(FORMS)) {
  test(`the address of a Unix socket ${form} is a DATABASE_URL for all parts`, async () => {
    const env = { DATABASE_URL: url() }
    const doctor = await runAsProcess(dataDir, ['doctor', '--json'], env)
    const checks: { check: string; ok: boolean; url?: string }[] = doctor.json
    assert.equal(checks.find(({ check }) => check === 'database')?.ok, true, doctor.stdout)
    for (const command of ['server', 'worker']) {
      const running = await startProgram(dataDir, command, env)
      assert.equal(await running.stop(), 0)
    }
  })
}
