import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Running, runAsProcess, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-commands-'))
  running = await startProgram(dataDir)
})

after(async () => {
  await running.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const json = (...args: string[]) => printedBy(dataDir, args)
const refused = (code: number, line: RegExp, ...args: string[]) => assertRefused(dataDir, code, line, args)

const runs = (key: string) => fetch(`${running.ready.url}/v1/runs`, { headers: { authorization: `Bearer ${key}` } })

/** A change is sent by NOTIFY, which takes a short time of no fixed length. */
async function untilStatus(key: string, status: number): Promise<void> {
  while ((await runs(key)).status !== status);
}

test('org create, set-plan and list print organizations, and a running server applies a plan at once', async () => {
  const created = await json('org', 'create', 'acme', '--name', 'Acme Inc.', '--plan', 'team')
  assert.deepEqual({ ...created, id: '' }, { id: '', slug: 'acme', name: 'Acme Inc.', plan: 'team' })
  const { key } = await json('key', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'read:pipelines')
  await untilStatus(key, 200)

  assert.deepEqual(await json('org', 'set-plan', 'acme', 'free'), { ...created, plan: 'free' })
  const set = await json('org', 'set', 'acme', '--accept-repository-vex', 'yes', '--host-dismissals', 'propose')
  assert.deepEqual(set, { ...created, plan: 'free' })
  assert.deepEqual(await json('org', 'set', 'acme', '--default-trust', 'verified'), set)
  await refused(2, /--default-trust must be one of verified, uploaded/, 'org', 'set', 'acme', '--default-trust', 'any')
  await untilStatus(key, 402)
  assert.deepEqual(
    (await json('org', 'list')).map(({ slug }: { slug: string }) => slug),
    ['acme', 'default'],
  )
  await refused(1, /^Organization "acme" already exists$/m, 'org', 'create', 'acme')
})

test('a key is shown once, works until it is revoked, and is in no list', async () => {
  const before = Date.now()
  const args = ['--org', 'default', '--name', 'ci', '--scope', 'read:pipelines', '--scope', 'read:pipelines']
  const limits = ['--expires-in', '90d', '--repository', 'acme/shop', '--repository', 'tools/*']
  const created = await json('key', 'create', ...args, '--scope', 'write:ci', ...limits)
  const { id, key, expires_at, ...rest } = created
  const repositories = ['acme/shop', 'tools/*']
  assert.deepEqual(rest, {
    name: 'ci',
    scopes: ['read:pipelines', 'write:ci'],
    environment: 'production',
    repositories,
  })
  assert.ok(
    Date.parse(expires_at) - before >= 90 * 86_400_000 && Date.parse(expires_at) - Date.now() <= 90 * 86_400_000,
  )
  await untilStatus(key, 200)

  await json('key', 'revoke', id)
  await untilStatus(key, 401)
  const listed = await json('key', 'list', '--org', 'default')
  const revoked = listed.find((item: { id: string }) => item.id === id)
  assert.ok(revoked.revoked_at)
  assert.doesNotMatch(JSON.stringify(listed), /shl_live|sha256/)
})

test('repo link stores a repository, renames it by its id, and refuses a name that another id has', async () => {
  const link = (id: string, name: string) => [
    'repo',
    'link',
    '--org',
    'default',
    '--provider',
    'github',
    '--id',
    id,
    '--name',
    name,
  ]
  assert.deepEqual(await json(...link('12', 'acme/shop')), { provider: 'github', id: '12', full_name: 'acme/shop' })
  assert.deepEqual(await json(...link('12', 'acme/store')), { provider: 'github', id: '12', full_name: 'acme/store' })
  await refused(1, /^Acme\/Store is already linked with another github id/m, ...link('13', 'Acme/Store'))
  const [{ created_at, ...listed }, ...others] = await json('repo', 'list', '--org', 'default')
  assert.ok(created_at)
  assert.deepEqual(others, [])
  const host = 'github.com'
  const ofHost = { connected: false, archived: null, private: null, deleted_at: null }
  const stored = { provider: 'github', id: '12', host, full_name: 'acme/store', tracked_branch: 'main' }
  assert.deepEqual(listed, { ...stored, ...ofHost })
})

test('doctor answers ok for every part, with the address of the database', async () => {
  const findings: { check: string; ok: boolean; url?: string }[] = await json('doctor')
  const parts = ['settings', 'database', 'migrations', 'replication', 'clock', 'secret key', 'objects', 'disk']
  const stored = ['gates', 'provenance', 'statements', 'log', 'worker', 'sweepers', 'retention', 'backups']
  const hosts = ['github app', 'proxies', 'trusts', 'policies', 'private addresses', 'connections', 'installations']
  const checks = [...parts, ...stored, ...hosts, 'deliveries', 'calls']
  assert.deepEqual(
    findings.map(({ check, ok }) => [check, ok]),
    checks.map((check) => [check, true]),
  )
  assert.match(findings[1]?.url ?? '', /^postgres:\/\/shiplock@/)
})

test('doctor exits with 1 and names each failed check, and never shows a password', async () => {
  const wrong = await runAsProcess(dataDir, ['doctor', '--json'], { SHIPLOCK_PORT: 'x', SHIPLOCK_LOG_LEVEL: 'y' })
  assert.equal(wrong.code, 1)
  assert.match(wrong.json[0].detail, /SHIPLOCK_PORT.*SHIPLOCK_LOG_LEVEL/)
  assert.match(wrong.json[0].next, /docs\/operations\.md#settings/)

  const away = await runAsProcess(dataDir, ['doctor', '--json'], { DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' })
  assert.equal(away.code, 1)
  assert.deepEqual([away.json[1].ok, away.json[1].url], [false, 'postgres://u@127.0.0.1:1/x'])
  assert.match(away.json[1].next, /^Start PostgreSQL, or correct DATABASE_URL/)
  assert.doesNotMatch(away.stdout + away.stderr, /hunter2/)
})

test('every mistake in the settings is reported at once, one line each', async () => {
  const { code, stderr } = await runAsProcess(dataDir, ['start'], { SHIPLOCK_PORT: 'x', SHIPLOCK_LOG_LEVEL: 'y' })
  assert.equal(code, 1)
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
    ['SHIPLOCK_PORT', 'SHIPLOCK_LOG_LEVEL'],
  )
})

test('a data directory that cannot be made is refused at once, with the setting', async () => {
  const { code, stdout, stderr } = await runAsProcess('/proc/shiplock/data', ['start'])
  assert.equal(code, 1)
  assert.match(stdout + stderr, /The data directory cannot be made \(ENOENT: .*\); check SHIPLOCK_DATA_DIR/)
})

test('a data directory that is a file is named, with the setting', async () => {
  for (const command of ['start', 'doctor']) {
    const { code, stdout, stderr } = await runAsProcess(import.meta.filename, [command])
    assert.equal(code, 1)
    assert.match(stdout + stderr, /The data directory cannot be read \(ENOTDIR: .*\); check SHIPLOCK_DATA_DIR/)
  }
})

test('a wrong command, flag or value is exit code 2 and one line', async () => {
  const create = ['key', 'create', '--org', 'default', '--name', 'n']
  await refused(2, /^Unknown command "strat"/, 'strat')
  await refused(2, /^No command is given/)
  await refused(2, /^Unknown option '--prot'/, 'start', '--prot', '1')
  await refused(2, /^--scope S is missing/, ...create)
  await refused(2, /^Scope "all" does not exist; the scopes are read:pipelines,/, ...create, '--scope', 'all')
  await refused(2, /^--expires-in must be a time like 90d/, ...create, '--scope', 'write:ci', '--expires-in', '90')
  await refused(2, /^Plan "gold" does not exist; the plans are free, team/, 'org', 'create', 'x', '--plan', 'gold')
  await refused(2, /^A slug must have/, 'org', 'create', 'Not A Slug')
})

test('--help lists every command, and the --help of a command lists its options', async () => {
  const { code, stdout } = await runAsProcess(dataDir, ['--help'])
  assert.equal(code, 0)
  for (const name of ['start', 'server', 'worker', 'migrate', 'org set-plan', 'key revoke', 'repo link', 'doctor'])
    assert.match(stdout, new RegExp(`^  ${name} `, 'm'))
  assert.match((await runAsProcess(dataDir, ['key', 'create', '--help'])).stdout, /--expires-in 90d/)
})

test('without a running server, the commands start and stop PostgreSQL; server and worker require migrate first', async () => {
  const fresh = mkdtempSync(join(tmpdir(), 'shiplock-commands-'))
  try {
    for (const command of ['server', 'worker']) {
      const { code, stderr } = await runAsProcess(fresh, [command])
      assert.equal(code, 1)
      assert.match(stderr, /^The database is not up to date \(0001_.*run: shiplock-server migrate$/m)
    }
    const migrated = await runAsProcess(fresh, ['migrate', '--json'])
    assert.ok(migrated.json.applied.includes('0002_jobs.sql'))
    assert.deepEqual((await runAsProcess(fresh, ['migrate', '--json'])).json, { applied: [] })
    const worker = await startProgram(fresh, 'worker')
    const server = await startProgram(fresh, 'server')
    assert.equal((await fetch(`${server.ready.url}/readyz`)).status, 200)
    assert.deepEqual(await Promise.all([server.stop(), worker.stop()]), [0, 0])
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
})
