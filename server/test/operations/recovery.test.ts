import assert from 'node:assert/strict'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type BackupPlace, makeBackupPlace } from '../support/backups.ts'
import { runProgram } from '../support/program.ts'

let place: BackupPlace
before(async () => {
  place = await makeBackupPlace()
})
after(() => place.close())

test('the embedded database is restored to the moment before a mistake', async () => {
  const { dataDir, archive, run } = makeInstallation('archived')
  const first = await run('org', 'create', 'before-base')
  assert.equal(first.code, 0, first.stderr)
  const base = join(place.directory, 'base')
  const made = await run('backup', 'base', base, '--json')
  assert.equal(made.code, 0, made.stderr)
  assert.equal((await stat(base)).mode & 0o777, 0o700)
  const created = await run('org', 'create', 'after-base')
  assert.equal(created.code, 0, created.stderr)
  const until = new Date().toISOString()
  assert.equal((await run('org', 'create', 'the-mistake')).code, 0)
  assert.ok((await readdir(archive)).every((name) => name.endsWith('.gz')))

  const target = join(place.directory, 'recovered')
  const restored = await runProgram(target, ['restore', 'base', base, '--wal', archive, '--until', until])
  assert.equal(restored.code, 0, restored.stderr)
  assert.deepEqual(await slugsOf(target), ['after-base', 'before-base'])
  const whole = join(place.directory, 'whole')
  const restoredWhole = await runProgram(whole, ['restore', 'base', base, '--wal', archive])
  assert.equal(restoredWhole.code, 0, restoredWhole.stderr)
  assert.deepEqual(await slugsOf(whole), ['after-base', 'before-base', 'the-mistake'])
  assert.deepEqual(await slugsOf(dataDir), ['after-base', 'before-base', 'the-mistake'])

  const refused = await runProgram(target, ['restore', 'base', base, '--wal', archive])
  assert.match(refused.stderr, /is not empty/)
})

test('a time that the archive does not reach is refused, and leaves nothing', async () => {
  const { archive } = makeInstallation('archived')
  const target = join(place.directory, 'too-late')
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const base = join(place.directory, 'base')
  const refused = await runProgram(target, ['restore', 'base', base, '--wal', archive, '--until', later])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /The WAL archive ends before .*; leave out --until/)
  assert.deepEqual(await readdir(target), [])
})

test('an archive that cannot be written to stops the start, and a base backup needs one', async () => {
  const dataDir = join(place.directory, 'unarchived')
  const { code, stderr } = await runProgram(dataDir, ['backup', 'base', join(place.directory, 'none')])
  assert.equal(code, 1)
  assert.match(stderr, /Set SHIPLOCK_WAL_ARCHIVE/)
  const file = join(place.directory, 'file')
  await writeFile(file, '')
  const refused = await runProgram(dataDir, ['org', 'list'], { SHIPLOCK_WAL_ARCHIVE: join(file, 'archive') })
  assert.equal(refused.code, 1)
  await mkdir(join(place.directory, 'odd$name'))
  const odd = await runProgram(dataDir, ['org', 'list'], { SHIPLOCK_WAL_ARCHIVE: join(place.directory, 'odd$name') })
  assert.match(odd.stderr, /SHIPLOCK_WAL_ARCHIVE must be a path of letters/)
})

function makeInstallation(name: string) {
  const dataDir = join(place.directory, name)
  const archive = join(place.directory, 'wal')
  const env = { SHIPLOCK_WAL_ARCHIVE: archive }
  return { dataDir, archive, run: (...args: string[]) => runProgram(dataDir, args, env) }
}

async function slugsOf(dataDir: string): Promise<string[]> {
  const { stderr, json } = await runProgram(dataDir, ['org', 'list', '--json'])
  assert.ok(json, stderr)
  return json.map(({ slug }: { slug: string }) => slug).sort()
}
