import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startServerForClient } from '../support/client-server.ts'
import { runProgram } from '../support/program.ts'
import { runSection } from '../support/runbook.ts'

const run = promisify(execFile)

let directory: string
let backups: string
let env: Record<string, string>
const replace: Record<string, string> = {}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-runbook-backup-'))
  backups = join(directory, 'backups')
  await mkdir(backups)
  // The user that runs PostgreSQL must reach the WAL archive.
  await chmod(directory, 0o755)
  replace['/var/backups/shiplock'] = backups
  env = { SHIPLOCK_DATA_DIR: join(directory, 'data'), SHIPLOCK_LOG_LEVEL: 'warn' }
  await createOrganization('kept')
})
after(() => rmSync(directory, { recursive: true, force: true }))

test('Daily backup, then Restore: the organization is there again', async () => {
  await runSection('operations/backup.md', 'Daily backup', { cwd: directory, env, replace })
  const [file = ''] = readdirSync(backups).filter((name) => name.endsWith('.backup'))
  await createOrganization('lost')
  const latest = { ...replace, '/var/backups/shiplock/latest.backup': join(backups, file) }
  await runSection('operations/backup.md', 'Restore', { cwd: directory, env, replace: latest })
  assert.deepEqual(await slugs(), ['kept'])
  rmSync(`${env.SHIPLOCK_DATA_DIR}.before-restore`, { recursive: true })
})

test('Encrypted backup: it can be verified with the key', async (t) => {
  if (!(await isInstalled('age-keygen'))) return t.skip('age is not installed')
  await runSection('operations/backup.md', 'Encrypted backup', { cwd: directory, env, replace })
})

test('Archive the write-ahead log, then Restore to any time: the mistake is undone', async () => {
  const archived = { ...env, SHIPLOCK_WAL_ARCHIVE: join(backups, 'wal') }
  await runSection('operations/backup.md', 'Archive the write-ahead log', { cwd: directory, env, replace })
  await createOrganization('later', archived)
  const RESTORE_TIME = new Date().toISOString()
  await createOrganization('mistake', archived)
  await runSection('operations/backup.md', 'Restore to any time', {
    cwd: directory,
    env: { ...env, RESTORE_TIME },
    replace,
  })
  assert.deepEqual((await slugs()).sort(), ['kept', 'later'])
})

test('Your own database: its own tools', async (t) => {
  const server = await startServerForClient(directory)
  if (typeof server === 'string') return t.skip(server)
  try {
    const own = { ...env, DATABASE_URL: server.url, SHIPLOCK_DATA_DIR: join(directory, 'own') }
    await createOrganization('dumped', own)
    await server.admin('postgres').unsafe('create database restored')
    const RESTORED_DATABASE_URL = server.url.replace(/[^/]*$/, 'restored')
    const place = { cwd: directory, env: { ...own, RESTORED_DATABASE_URL }, replace }
    await runSection('operations/backup.md', 'Your own database', place)
    const restored = { ...env, DATABASE_URL: RESTORED_DATABASE_URL, SHIPLOCK_DATA_DIR: join(backups, 'data') }
    assert.deepEqual(await slugs(restored), ['dumped'])
  } finally {
    await server.close()
  }
})

async function createOrganization(slug: string, settings = env): Promise<void> {
  const { code, stderr } = await runProgram(settings.SHIPLOCK_DATA_DIR as string, ['org', 'create', slug], settings)
  assert.equal(code, 0, stderr)
}

async function slugs(settings = env): Promise<string[]> {
  const { stderr, json } = await runProgram(settings.SHIPLOCK_DATA_DIR as string, ['org', 'list', '--json'], settings)
  assert.ok(json, stderr)
  return json.map(({ slug }: { slug: string }) => slug)
}

function isInstalled(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  )
}
