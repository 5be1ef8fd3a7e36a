import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { formatArtifactKey } from '../../src/ci/reports/artifact-object.ts'
import { readConfig } from '../../src/config.ts'
import { listStoredTables } from '../../src/platform/db/stored-tables.ts'
import { getReportKey } from '../../src/security/uploads/upload-file.ts'
import { openServices } from '../../src/start/open-services.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import {
  assertSameData,
  type BackupPlace,
  emptyTables,
  makeBackupPlace,
  makeRestoreTarget,
  type RestoreTarget,
  restoreTo,
  runOn,
  settingsOf,
} from '../support/backups.ts'
import { furnish } from '../support/furnish.ts'
import { collect } from '../support/object-store-contract.ts'

const run = promisify(execFile)

describe('backup and restore of a furnished organization', () => {
  let api: TestApi
  let owner: Caller
  let owned: Record<string, string>
  let place: BackupPlace
  let file: string
  const targets: RestoreTarget[] = []

  const makeTarget = async () => {
    const target = await makeRestoreTarget(place.directory)
    targets.push(target)
    return target
  }
  const fileOf = (name: string) => join(place.directory, name)

  before(async () => {
    api = await startTestApi()
    owner = await api.caller()
    owned = await furnish(api, owner)
    place = await makeBackupPlace()
    file = fileOf('plain.backup')
    const { code, stderr, json } = await runOn(api, ['backup', file, '--json'])
    assert.equal(code, 0, stderr)
    assert.equal(json.lost, 0)
    assert.equal(json.objects, 2)
  })
  after(async () => {
    for (const target of targets) await target.close()
    await place.close()
    await api.close()
  })

  const warns = ({ stderr }: { stderr: string }) => stderr.includes('the next minor version requires it')

  test('a backup with the secret key that is not encrypted warns, unless --plain says that it is meant', async () => {
    assert.ok(warns(await runOn(api, ['backup', fileOf('unsaid.backup')])))
    const meant = await runOn(api, ['backup', fileOf('meant.backup'), '--plain'])
    assert.deepEqual([meant.code, warns(meant)], [0, false], meant.stderr)
    const both = await runOn(api, ['backup', fileOf('both.backup'), '--plain', '--without-secrets'])
    assert.equal(both.code, 2, both.stderr)
    await Promise.all(['unsaid.backup', 'meant.backup'].map((name) => rm(fileOf(name))))
  })

  test('only the owner can read the file, and nothing else is left beside it', async () => {
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.deepEqual(
      (await readdir(place.directory)).filter((name) => name.startsWith('plain')),
      ['plain.backup'],
    )
  })

  test('a file that cannot be made ends the backup with one line', async () => {
    const { code, stderr } = await runOn(api, ['backup', '/proc/shiplock.backup'])
    assert.equal(code, 1, stderr)
    assert.match(stderr.trim().split('\n').at(-1) ?? '', /^E[A-Z]+: .+\/proc\/shiplock\.backup/)
    assert.doesNotMatch(stderr, /^ {4}at /m)
  })

  test('every row, sequence, index, object and key is the same after a restore', async () => {
    const target = await makeTarget()
    const restored = await restoreTo(target, [file, '--json'])
    assert.equal(restored.code, 0, restored.stderr)
    await assertSameData(target.sql, api.services.sql)
    const tables = await listStoredTables(api.services.sql)
    const empty = await emptyTables(api.services.sql)
    assert.ok(tables.length - empty.length >= 30, `too many tables have nothing to compare: ${empty.join(', ')}`)
    await assertSameServices(target)
  })

  /** The restored installation accepts the same credentials and has the same files. */
  async function assertSameServices(target: RestoreTarget): Promise<void> {
    const config = readConfig({ ...settingsOf(api), SHIPLOCK_DATA_DIR: target.dataDir })
    const options = { applicationName: 'test', connections: 1 }
    const { services, close } = await openServices(config, { address: target.database.connection }, options)
    try {
      for (const key of ['cursorKey', 'pollTokenKey', 'sealingKey', 'integrityKey'] as const)
        assert.deepEqual(services[key].export(), api.services[key].export())
      for (const key of [
        formatArtifactKey(owner.orgId, owned['/artifacts'] as string),
        getReportKey(owner.orgId, owned['/v1/security/uploads'] as string),
      ])
        assert.deepEqual(await collect(services.objects.read(key)), await collect(api.services.objects.read(key)))
    } finally {
      await close()
    }
  }

  test('a database that is not empty and a directory that is not empty are refused', async () => {
    const target = await makeTarget()
    await target.sql`create table something (id int)`
    const refused = await restoreTo(target, [file])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /The database is not empty \(it has something\)/)
    assert.deepEqual(await readdir(target.dataDir), [])
    await writeFile(join(target.dataDir, 'precious'), '')
    assert.match((await restoreTo(target, [file])).stderr, /is not empty \(it has precious\)/)
    assert.deepEqual(await readdir(target.dataDir), ['precious'])
  })

  test('tables that somebody has added are left out of the restore, which names them', async () => {
    const { sql } = api.services
    await sql`create table added (id int generated always as identity, part int) partition by list (part)`
    await sql`create table added_one partition of added for values in (1)`
    const added = fileOf('added.backup')
    try {
      await sql`insert into added (part) values (1)`
      assert.equal((await runOn(api, ['backup', added])).code, 0)
    } finally {
      await sql`drop table added`
    }
    const target = await makeTarget()
    const restored = await restoreTo(target, [added])
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(restored.stderr, /warning: public\.added is no table of Shiplock and is left out/)
    await assertSameData(target.sql, api.services.sql)
  })

  test('an existing file is not overwritten', async () => {
    const { code, stderr } = await runOn(api, ['backup', file])
    assert.equal(code, 1)
    assert.match(stderr, /exists already/)
  })

  test('a cut or changed file is refused, and restores nothing', async () => {
    const bytes = await readFile(file)
    const cut = fileOf('cut.backup')
    const target = await makeTarget()
    for (const length of [0, 100, 512, 5_000, bytes.length >> 1, bytes.length - 1500, bytes.length - 1024]) {
      await writeFile(cut, bytes.subarray(0, length))
      const verified = await runOn(api, ['backup', 'verify', cut])
      const isCutInPadding = length >= bytes.length - 1024
      assert.equal(verified.code, isCutInPadding ? 0 : 1, `${length} of ${bytes.length}: ${verified.stderr}`)
    }
    const changed = Buffer.from(bytes)
    const at = bytes.length - 3000
    changed[at] = (changed[at] as number) ^ 1
    await writeFile(cut, changed)
    const verified = await runOn(api, ['backup', 'verify', cut])
    assert.equal(verified.code, 1)
    const restored = await restoreTo(target, [cut])
    assert.equal(restored.code, 1, restored.stdout)
    assert.deepEqual(await readdir(target.dataDir), [])
    const retried = await restoreTo(target, [file])
    assert.equal(retried.code, 0, retried.stderr)
  })

  test('without secrets, the key is not inside, and the right one must be given', async () => {
    const without = fileOf('without.backup')
    const made = await runOn(api, ['backup', without, '--without-secrets'])
    assert.deepEqual([made.code, warns(made)], [0, false], made.stderr)
    const secret = (await readFile(join(api.services.config.dataDir, 'secret-key'), 'utf8')).trim()
    assert.ok((await readFile(file)).includes(secret))
    assert.ok(!(await readFile(without)).includes(secret))
    const target = await makeTarget()
    assert.match((await restoreTo(target, [without])).stderr, /set SHIPLOCK_SECRET_KEY to it/)
    const wrong = await restoreTo(target, [without], { SHIPLOCK_SECRET_KEY: 'x'.repeat(40) })
    assert.match(wrong.stderr, /SHIPLOCK_SECRET_KEY is not the secret key/)
    const right = await restoreTo(target, [without], { SHIPLOCK_SECRET_KEY: secret })
    assert.equal(right.code, 0, right.stderr)
  })

  test('an encrypted backup opens with its passphrase or key only', async () => {
    const identity = await generateIdentity()
    await writeFile(fileOf('key.txt'), `# a key\n${identity}\n`)
    await writeFile(fileOf('other.txt'), `${await generateIdentity()}\n`)
    await writeFile(fileOf('passphrase'), 'correct horse battery staple\n')
    await writeFile(fileOf('wrong'), 'incorrect\n')
    const recipient = await identityToRecipient(identity)
    const forKey = fileOf('key.backup')
    const forPassphrase = fileOf('passphrase.backup')
    assert.equal((await runOn(api, ['backup', forKey, '--encrypt-to', recipient])).code, 0)
    assert.equal((await runOn(api, ['backup', forPassphrase, '--passphrase-file', fileOf('passphrase')])).code, 0)
    const verify = (path: string, ...options: string[]) => runOn(api, ['backup', 'verify', path, ...options])
    assert.equal((await verify(forKey, '--identity', fileOf('key.txt'))).code, 0)
    assert.equal((await verify(forPassphrase, '--passphrase-file', fileOf('passphrase'))).code, 0)
    assert.match((await verify(forKey)).stderr, /is encrypted; give --identity or --passphrase-file/)
    assert.match((await verify(forKey, '--identity', fileOf('other.txt'))).stderr, /cannot be decrypted/)
    assert.match((await verify(forPassphrase, '--passphrase-file', fileOf('wrong'))).stderr, /cannot be decrypted/)
  })

  test('age itself decrypts what we encrypt', async (t) => {
    const hasAge = await run('age', ['--version']).then(
      () => true,
      () => false,
    )
    if (!hasAge) return t.skip('age is not installed')
    const key = fileOf('age-key.txt')
    await run('age-keygen', ['-o', key])
    const recipient = /public key: (age1\w+)/.exec(await readFile(key, 'utf8'))?.[1] as string
    const encrypted = fileOf('age.backup')
    assert.equal((await runOn(api, ['backup', encrypted, '--encrypt-to', recipient])).code, 0)
    await run('age', ['--decrypt', '--identity', key, '--output', fileOf('decrypted'), encrypted])
    assert.equal((await runOn(api, ['backup', 'verify', fileOf('decrypted')])).code, 0)
    await run('age', ['--encrypt', '--recipient', recipient, '--output', fileOf('by-age'), file])
    assert.equal((await runOn(api, ['backup', 'verify', fileOf('by-age'), '--identity', key])).code, 0)
  })
})
