import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { formatArtifactKey } from '../../src/ci/reports/artifact-object.ts'
import { insertAbandonedObjects } from '../../src/platform/objects/abandoned-objects.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import {
  assertSameData,
  type BackupPlace,
  makeBackupPlace,
  makeRestoreTarget,
  restoreTo,
  runOn,
  settingsOf,
} from '../support/backups.ts'
import { furnish } from '../support/furnish.ts'
import { runProgram } from '../support/program.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

describe('backups beside other work, and interruptions', () => {
  let api: TestApi
  let owner: Caller
  let owned: Record<string, string>
  let place: BackupPlace
  const fileOf = (name: string) => join(place.directory, name)
  before(async () => {
    api = await startTestApi()
    owner = await api.caller()
    owned = await furnish(api, owner)
    place = await makeBackupPlace()
  })
  after(async () => {
    await place.close()
    await api.close()
  })

  test('a backup during writes has all rows of one moment', async () => {
    const { sql } = api.services
    const ended = new AbortController()
    const writes = writePairs(ended.signal)
    const { code, stderr } = await runOn(api, ['backup', fileOf('busy.backup')])
    ended.abort()
    const written = await writes
    assert.equal(code, 0, stderr)
    const target = await makeRestoreTarget(place.directory)
    try {
      const restored = await restoreTo(target, [fileOf('busy.backup')])
      assert.equal(restored.code, 0, restored.stderr)
      const [{ rows, name }] = await target.sql<[{ rows: number; name: string }]>`
        select (select count(*)::int from abandoned_objects where object_key like 'pair/%') as rows, name
        from organizations
        where id = ${owner.orgId}`
      assert.equal(name, `pair ${rows}`)
      assert.ok(rows > 0 && rows < written, `${rows} of ${written}`)
    } finally {
      await target.close()
      await sql`delete from abandoned_objects`
    }
  })

  /** Each transaction changes the first table of a backup and one of the last ones. */
  async function writePairs(ended: AbortSignal): Promise<number> {
    let written = 0
    do {
      written += 1
      await api.services.sql.begin(async (tx) => {
        await insertAbandonedObjects(tx, [{ object_key: `pair/${written}`, remove_after: new Date('2030-01-01') }])
        await tx`update organizations set name = ${`pair ${written}`} where id = ${owner.orgId}`
      })
    } while (!ended.aborted)
    return written
  }

  test('two backups at once are both complete, also of one file', async () => {
    const names = ['first.backup', 'second.backup', 'same.backup', 'same.backup']
    const made = await Promise.all(names.map((name) => runOn(api, ['backup', fileOf(name)])))
    for (const { code, stderr } of made) assert.ok(code === 0 || /exists already/.test(stderr), stderr)
    for (const name of names) assert.equal((await runOn(api, ['backup', 'verify', fileOf(name)])).code, 0)
    assert.deepEqual(await partialFiles(), [])
  })

  test('a full disk fails the backup, and leaves nothing', async () => {
    const limited = `trap '' XFSZ; ulimit -f 8; exec '${process.execPath}' '${MAIN}' backup '${fileOf('full.backup')}'`
    const env = { ...process.env, ...settingsOf(api), SHIPLOCK_DATA_DIR: api.services.config.dataDir }
    const { code, stderr } = await shell(limited, env)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /EFBIG|file too large/)
    assert.deepEqual(
      (await readdir(place.directory)).filter((name) => name.startsWith('full')),
      [],
    )
  })

  test('Ctrl-C leaves nothing', async () => {
    const child = spawn(process.execPath, [MAIN, 'backup', '-'], {
      env: { ...process.env, ...settingsOf(api), SHIPLOCK_DATA_DIR: api.services.config.dataDir },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    // Nothing more is read than the first bytes, so the backup cannot end by itself.
    await once(child.stdout, 'readable')
    child.kill('SIGINT')
    child.stdout.resume()
    const [code] = await once(child, 'exit')
    assert.equal(code, 1)
    assert.deepEqual(await partialFiles(), [])
  })

  test('an object that is missing or damaged is reported, and the rest is backed up', async () => {
    if (api.services.config.s3) return
    const path = join(
      api.services.config.dataDir,
      'objects',
      formatArtifactKey(owner.orgId, owned['/artifacts'] as string),
    )
    const bytes = await readFile(path)
    const changed = Buffer.from(bytes)
    changed[0] = (changed[0] as number) ^ 1
    await writeFile(path, changed)
    try {
      const made = await runOn(api, ['backup', fileOf('damaged.backup'), '--json'])
      assert.equal(made.code, 0, made.stderr)
      assert.deepEqual(
        made.json.lost_objects.map(({ reason }: { reason: string }) => reason),
        ['checksum_mismatch'],
      )
      const target = await makeRestoreTarget(place.directory)
      const restored = await restoreTo(target, [fileOf('damaged.backup'), '--json'])
      assert.equal(restored.code, 0, restored.stderr)
      assert.equal(restored.json.lost, 1)
      await target.close()
    } finally {
      await writeFile(path, bytes)
    }
  })

  test('a restore into the embedded database that is killed starts again', async () => {
    const file = fileOf('killed.backup')
    assert.equal((await runOn(api, ['backup', file])).code, 0)
    const dataDir = fileOf('killed')
    const { DATABASE_URL, ...env } = settingsOf(api)
    assert.ok(DATABASE_URL)
    const child = spawn(process.execPath, [MAIN, 'restore', file], {
      env: { ...process.env, ...env, SHIPLOCK_DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    for await (const line of createInterface({ input: child.stderr })) if (line === 'Building the indexes') break
    child.kill('SIGKILL')
    await once(child, 'exit')
    const refused = await runProgram(dataDir, ['org', 'list'], env)
    assert.match(refused.stderr, /was interrupted; run restore again/)
    const restored = await runProgram(dataDir, ['restore', file], env)
    assert.equal(restored.code, 0, restored.stderr)
    const listed = await runProgram(dataDir, ['org', 'list', '--json'], env)
    assert.deepEqual(
      listed.json.map(({ id }: { id: string }) => id),
      [owner.orgId],
    )
    const again = await runProgram(dataDir, ['backup', fileOf('again.backup')], env)
    assert.equal(again.code, 0, again.stderr)
    const target = await makeRestoreTarget(place.directory)
    assert.equal((await restoreTo(target, [fileOf('again.backup')])).code, 0)
    await assertSameData(target.sql, api.services.sql)
    await target.close()
  })

  test('memory does not grow with the size of an object', async (t) => {
    if (process.platform !== 'linux') return t.skip('reads /proc')
    const target = await makeRestoreTarget(place.directory)
    const restoreEnv = { ...settingsOf(api), DATABASE_URL: target.database.url, SHIPLOCK_DATA_DIR: target.dataDir }
    const backupEnv = { ...settingsOf(api), SHIPLOCK_DATA_DIR: api.services.config.dataDir }
    const [small, large] = [fileOf('small.backup'), fileOf('large.backup')]
    const smallMib = await peakMib(['backup', small], backupEnv)
    await storeLargeArtifact()
    const largeMib = await peakMib(['backup', large], backupEnv)
    const restoredMib = await peakMib(['restore', large], restoreEnv)
    await target.close()
    assert.ok(largeMib < smallMib + 150, `${largeMib} MiB for a large object, ${smallMib} without`)
    assert.ok(restoredMib < smallMib + 200, `${restoredMib} MiB to restore`)
  })

  /** Replaces the artifact by one of 300 MiB that cannot be compressed. */
  async function storeLargeArtifact(): Promise<void> {
    const id = owned['/artifacts'] as string
    const chunk = randomBytes(1024 * 1024)
    const chunks = async function* () {
      for (let nth = 0; nth < 300; nth += 1) yield chunk
    }
    const digest = createHash('sha256')
    for await (const part of chunks()) digest.update(part)
    const expected = { sizeBytes: 300 * chunk.length, sha256: digest.digest('hex'), contentType: 'text/plain' }
    await api.services.objects.write(formatArtifactKey(owner.orgId, id), expected, chunks())
    await api.services.sql`
      update ci_artifacts
      set size = ${expected.sizeBytes}, sha256 = ${expected.sha256}
      where id = ${id}`
  }

  async function partialFiles(): Promise<string[]> {
    return (await readdir(place.directory)).filter((name) => name.includes('.partial'))
  }
})

function shell(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile('bash', ['-c', script], { env }, (_error, _stdout, stderr) =>
      resolve({ code: child.exitCode, stderr }),
    )
  })
}

/** Runs a command and returns the most memory that it has used. */
async function peakMib(args: string[], env: Record<string, string>): Promise<number> {
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env }, stdio: 'ignore' })
  const exited = once(child, 'exit')
  let peakKib = 0
  while (child.exitCode === null && child.signalCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
    peakKib = Math.max(peakKib, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0))
    await new Promise(setImmediate)
  }
  const [code] = await exited
  assert.equal(code, 0, args.join(' '))
  return peakKib / 1024
}
