import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import {
  DataDirectoryInUseError,
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../src/platform/db/embedded/embedded-postgres.ts'
import { hasGivenPassword, loadPassword } from '../../src/platform/db/embedded/password.ts'
import { findPostmaster } from '../../src/platform/db/embedded/postmaster.ts'
import { openSql } from '../../src/platform/db/sql.ts'
import { isAlive } from '../../src/platform/processes.ts'
import { makeBackupPlace } from '../support/backups.ts'

const USER_PROGRAM = new URL('../support/embedded-postgres-user.ts', import.meta.url).pathname

const root = mkdtempSync(join(tmpdir(), 'shiplock-operations-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Kept from test to test, because making a database takes a second. */
let dataDir: string
let opened: EmbeddedPostgres[]
let users: ChildProcess[]

beforeEach(() => {
  dataDir = join(root, 'data')
  opened = []
  users = []
})

afterEach(async () => {
  for (const user of users) await kill(user)
  await open() // adopts what killed users left running, so that it stops with us
  for (const server of opened) await server.close()
})

test('two processes that create the database at the same time share one server, and the last process stops it', async () => {
  const [first, second] = await Promise.all([startUser(), startUser()])
  const server = serverPid()

  await leave(first)
  assert.equal(await findPostmaster(join(dataDir, 'postgres')), server)
  await leave(second)
  assert.equal(await findPostmaster(join(dataDir, 'postgres')), undefined)
})

test('the server that a killed process left running is adopted, with its claim free', async () => {
  const user = await startUser('claim')
  const server = serverPid()
  await kill(user)

  const adopted = await open()
  await adopted.claimDataDirectory()
  assert.equal(serverPid(), server)
})

test('committed rows are kept after all processes were killed', async () => {
  const before = await open()
  await query(before, 'create table kept (id int)')
  await query(before, 'insert into kept values (1), (2)')
  const killed = serverPid()
  process.kill(killed, 'SIGKILL')
  await before.close()

  assert.deepEqual(await query(await open(), 'select id from kept order by id'), [{ id: 1 }, { id: 2 }])
  assert.notEqual(serverPid(), killed)
})

test('a process whose PostgreSQL was killed starts it again', async () => {
  const said = Promise.withResolvers<string>()
  const user = await openEmbeddedPostgres({ dataDir, say: (line) => line.includes('again') && said.resolve(line) })
  opened.push(user)
  process.kill(serverPid(), 'SIGKILL')
  await said.promise

  assert.deepEqual(await query(await open(), 'select 1 as one'), [{ one: 1 }])
})

test('a lock file whose process id now belongs to another program does not block the start', async () => {
  await (await open()).close()
  const { uid, gid } = ownerOfCluster()
  const stranger = spawn('/bin/sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {})
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    writeFileSync(join(dataDir, 'postgres', name), `${stranger.pid}\n/proc/self/cwd\n1\n5432\n.\n\n  1  1\nready   \n`)
  }

  try {
    assert.deepEqual(await query(await open(), 'select 1 as one'), [{ one: 1 }])
    assert.ok(isAlive(stranger.pid ?? 0))
  } finally {
    stranger.kill('SIGKILL')
  }
})

test('a second claim on the data directory is refused with the process id of the first', async () => {
  const user = await startUser('claim')
  const second = await open()

  await assert.rejects(second.claimDataDirectory(), (error) => {
    assert.ok(error instanceof DataDirectoryInUseError)
    assert.equal(error.message, `Shiplock is already running on ${dataDir} (pid ${user.pid})`)
    return true
  })
})

test('the remains of an interrupted initialization are removed and never used as a cluster', async () => {
  const ended = spawn('/bin/true')
  await once(ended, 'exit')
  dataDir = join(root, 'interrupted')
  const abandoned = join(dataDir, `postgres.initializing-${ended.pid}`)
  mkdirSync(join(abandoned, 'base'), { recursive: true })

  await open()
  assert.ok(!existsSync(abandoned))
})

test('a data directory whose path is longer than a socket address allows works, for psql too', async () => {
  await (await open()).close()
  dataDir = join(root, 'x'.repeat(120))
  renameSync(join(root, 'data'), dataDir)
  const server = await open()
  const host = decodeURIComponent(new URL(server.url).hostname)

  assert.ok(host.length < 90)
  assert.equal(host, server.connection.host)
  assert.equal((await open()).url, server.url)
  assert.deepEqual(await query(server, 'select 1 as one'), [{ one: 1 }])
  await Promise.all(opened.splice(0).map((user) => user.close()))
  rmSync(dirname(host), { recursive: true })
  renameSync(dataDir, join(root, 'data'))
  dataDir = join(root, 'data')
})

test('whoever can reach the socket, but does not have the password, is refused', async () => {
  const server = await open()
  const { mode } = statSync(passwordFile())
  assert.equal(mode & 0o777, 0o600)
  await assert.rejects(query(withoutPassword(server), 'select 1'), REFUSED)
  const sql = openSql(server.connection, { max: 1, applicationName: 'test' })
  assert.equal(await hasGivenPassword(sql), true)
  await sql.end()
  assert.doesNotMatch(server.url, new RegExp(server.connection.password))
})

test('a cluster of an earlier version asks for a password from its next start, with several processes at once', async () => {
  await query(await open(), 'create table if not exists stored as select 1 as id')
  await closeAll()
  rmSync(passwordFile())
  writeFileSync(join(dataDir, 'postgres/pg_hba.conf'), 'local all all trust\n')

  const users = await Promise.all([startUser(), startUser()])
  const server = await open()
  await assert.rejects(query(withoutPassword(server), 'select 1'), REFUSED)
  assert.deepEqual(await query(server, 'select id from stored'), [{ id: 1 }])
  for (const user of users) await leave(user)
})

test('a lost or foreign password is replaced at the next start', async () => {
  await open()
  await closeAll()
  writeFileSync(passwordFile(), '*:*:*:shiplock:of-another-installation\n')
  assert.deepEqual(await query(await open(), 'select 1 as one'), [{ one: 1 }])
  await closeAll()
  rmSync(passwordFile())
  assert.deepEqual(await query(await open(), 'select 1 as one'), [{ one: 1 }])
})

const asRoot = { skip: process.getuid?.() === 0 ? false : 'only root lends PostgreSQL another account' }
test(
  'as root, PostgreSQL runs as the system account below a directory which that account cannot enter',
  asRoot,
  async () => {
    await open()
    const account = ownerOfCluster()

    assert.deepEqual(account, accountNamed('shiplock'))
    assert.equal(statSync(`/proc/${serverPid()}`).uid, account.uid)
    for (const attacker of [account, accountNamed('nobody')]) {
      assert.throws(() => execFileSync('/bin/ls', [root], { ...attacker, stdio: 'ignore' }))
      assert.throws(() => execFileSync('/bin/cat', [passwordFile()], { ...attacker, stdio: 'ignore' }))
    }
  },
)

test(
  'as root, a cluster of nobody changes its owner at the next start, and nothing outside of it',
  asRoot,
  async () => {
    await query(await open(), 'create table if not exists stored as select 1 as id')
    await closeAll()
    const cluster = join(dataDir, 'postgres')
    const nobody = accountNamed('nobody')
    execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, cluster])
    const outside = join(root, 'of-root')
    writeFileSync(outside, 'a secret of root')
    linkSync(outside, join(cluster, 'second-name'))
    symlinkSync(outside, join(cluster, 'link'))

    assert.deepEqual(await query(await open(), 'select id from stored'), [{ id: 1 }])
    assert.deepEqual(ownerOfCluster(), accountNamed('shiplock'))
    const left = readdirSync(cluster, { recursive: true, withFileTypes: true })
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => lstatSync(path).uid === nobody.uid)
    assert.deepEqual(left, [])
    assert.equal(statSync(outside).uid, 0)
  },
)

test('as root, an interrupted change of the owner is completed', asRoot, async () => {
  await open()
  await closeAll()
  const nobody = accountNamed('nobody')
  for (const path of ['PG_VERSION', 'global/pg_control', 'postgresql.conf'])
    chownSync(join(dataDir, 'postgres', path), nobody.uid, nobody.gid)

  assert.deepEqual(await query(await open(), 'select 1 as one'), [{ one: 1 }])
})

test('as root, the WAL archive changes its owner with the cluster', asRoot, async () => {
  const place = await makeBackupPlace()
  after(place.close)
  const archive = join(place.directory, 'wal')
  await (await openEmbeddedPostgres({ dataDir, archive })).close()
  const nobody = accountNamed('nobody')
  writeFileSync(join(archive, 'segment.gz'), '')
  execFileSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, archive, join(dataDir, 'postgres')])

  await (await openEmbeddedPostgres({ dataDir, archive })).close()
  const { uid } = accountNamed('shiplock')
  assert.deepEqual([statSync(archive).uid, statSync(join(archive, 'segment.gz')).uid], [uid, uid])
})

test('as root, a data directory of nobody is refused, and that of another user is used as theirs', asRoot, async () => {
  await open()
  await closeAll()
  const give = ({ uid, gid }: Owner) => execFileSync('chown', ['-R', `${uid}:${gid}`, dataDir])
  give(accountNamed('nobody'))
  const advice =
    /belongs to nobody, as which other programs run\. Give it to root \(chown -R root .*\), or run Shiplock/
  await assert.rejects(openEmbeddedPostgres({ dataDir }), advice)

  const user = accountNamed('games')
  give(user)
  assert.deepEqual(await query(await open(), 'select 1 as one'), [{ one: 1 }])
  assert.deepEqual(ownerOfCluster(), user)
  assert.equal(statSync(passwordFile()).uid, user.uid)
  await closeAll()
  give({ uid: 0, gid: 0 })
  await open()
  assert.deepEqual(ownerOfCluster(), accountNamed('shiplock'))
})

test('as root, a link in a data directory of another user gives them no file of root', asRoot, async () => {
  const { uid, gid } = accountNamed('games')
  const [theirs, secret] = [mkdtempSync(join(root, 'theirs-')), join(root, 'secret')]
  const file = join(theirs, 'postgres-password')
  for (const text of ['root:*:20000:0:99999:7:::\n', `*:*:*:shiplock:${'s'.repeat(43)}\n`])
    for (const makeLink of [symlinkSync, linkSync]) {
      writeFileSync(secret, text, { mode: 0o600 })
      makeLink(secret, file)
      chownSync(theirs, uid, gid)
      await assert.rejects(loadPassword(theirs), /is a link or belongs to somebody else/)
      assert.equal(statSync(secret).uid, 0)
      rmSync(file)
    }
  execFileSync('mkfifo', [file])
  await assert.rejects(loadPassword(theirs), /is a link or belongs to somebody else/)
  rmSync(file)
  await loadPassword(theirs)
  assert.equal(statSync(file).uid, uid)
  chownSync(file, 0, 0)
  await loadPassword(theirs)
  assert.equal(statSync(file).uid, uid)
})

async function open(): Promise<EmbeddedPostgres> {
  const server = await openEmbeddedPostgres({ dataDir })
  opened.push(server)
  return server
}

async function closeAll(): Promise<void> {
  for (const server of opened.splice(0)) await server.close()
}

function passwordFile(): string {
  return join(dataDir, 'postgres-password')
}

const REFUSED = /password authentication failed for user "shiplock"/

function withoutPassword({ connection }: EmbeddedPostgres): Pick<EmbeddedPostgres, 'connection'> {
  return { connection: { ...connection, password: 'guessed' } }
}

/** Another process that uses the data directory. */
async function startUser(...args: string[]): Promise<ChildProcess> {
  const user = spawn(process.execPath, [USER_PROGRAM, dataDir, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  users.push(user)
  const [line] = await Promise.race([once(user.stdout, 'data'), once(user, 'exit')])
  assert.equal(String(line), 'open\n')
  return user
}

async function leave(user: ChildProcess): Promise<void> {
  user.stdin?.end()
  await once(user, 'exit')
}

async function kill(user: ChildProcess): Promise<void> {
  if (user.exitCode !== null || user.signalCode !== null) return
  user.kill('SIGKILL')
  await once(user, 'exit')
}

async function query(server: Pick<EmbeddedPostgres, 'connection'>, text: string): Promise<unknown[]> {
  const sql = openSql(server.connection, { max: 1, applicationName: 'test' })
  try {
    return [...(await sql.unsafe(text))]
  } finally {
    await sql.end()
  }
}

function serverPid(): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
}

type Owner = { uid: number; gid: number }

function accountNamed(name: string): Owner {
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([first]) => first === name) ?? assert.fail(`there is no ${name}`)
  return { uid: Number(uid), gid: Number(gid) }
}

function ownerOfCluster(): Owner {
  const { uid, gid } = statSync(join(dataDir, 'postgres'))
  return { uid, gid }
}
