import { stat } from 'node:fs/promises'
import { UsageError } from '@shiplock/command-line/options'
import { encrypt, type Lock } from '../backup/age.ts'
import { ArchiveWriter } from '../backup/archive.ts'
import { createBackup } from '../backup/create-backup.ts'
import {
  type BackupCounts,
  countBackup,
  describeBytes,
  describeCounts,
  describeLost,
  toMib,
} from '../backup/manifest.ts'
import { openBackup, verifyBackup } from '../backup/read-backup.ts'
import { recordBackup } from '../platform/backup-marks.ts'
import { readSecretText } from '../platform/crypto/secret-key.ts'
import { openSql, type Sql } from '../platform/db/sql.ts'
import { toNullIfMissing, writeWhole } from '../platform/files.ts'
import { type Database, openDatabase } from '../start/database.ts'
import { openServices } from '../start/open-services.ts'
import { ProgressBar } from '../start/terminal.ts'
import { lockOptions, openBackupFile, readLock, STANDARD, unlockOptions } from './backup-file.ts'
import { type Context, defineCommand, waitForStop } from './command.ts'

const OTHERS = ['--encrypt-to', '--passphrase-file', '--without-secrets']

const PLAIN_WARNING = `The backup has the secret key, unencrypted. Give one of ${OTHERS.join(', ')} or --plain: the next minor version requires it.`

export const backup = defineCommand({
  name: 'backup',
  about:
    'Writes a consistent copy of database, objects and secret key into a new file, also while the server is running. The file - is standard output.',
  arguments: ['file'],
  options: {
    ...lockOptions,
    'without-secrets': {
      type: 'flag',
      value: '',
      about: 'leave out the secret key; keep SHIPLOCK_SECRET_KEY elsewhere',
    },
    plain: {
      type: 'flag',
      value: '',
      about: 'write the secret key unencrypted: whoever reads the file can sign in as everyone',
    },
  },
  async run(context, { file }, { 'without-secrets': withoutSecrets, plain, ...options }) {
    const lock = await readLock(options)
    if (plain && (lock !== null || withoutSecrets)) throw new UsageError(`Give --plain without ${OTHERS.join(', ')}`)
    if (!plain && lock === null && !withoutSecrets) context.say(PLAIN_WARNING)
    if (file !== STANDARD && (await toNullIfMissing(stat(file)))) throw new Error(`${file} exists already`)
    const made = await makeBackup(context, file, { lock, withSecret: !withoutSecrets })
    const text = [`${file}: ${describeCounts(made)}, ${describeBytes(made.bytes)}`, ...describeLost(made)].join('\n')
    if (file === STANDARD) context.say(text)
    else context.print({ json: { file, ...made }, text })
  },
})

type Manner = { lock: Lock | null; withSecret: boolean }
type Made = BackupCounts & { bytes: number; encrypted: boolean }

async function makeBackup({ readSettings, say }: Context, file: string, { lock, withSecret }: Manner): Promise<Made> {
  const config = readSettings()
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config, say)
  opened.defer(() => database.close())
  const { services, close } = await openServices(config, database, {
    applicationName: 'shiplock backup',
    connections: 1,
  })
  opened.defer(close)
  const sql = openForBackup(database)
  opened.defer(() => sql.end({ timeout: 0 }))
  const secret = await readSecretText(config.secretKey ?? undefined, config.dataDir)
  const bar = new ProgressBar(say)
  const archive = new ArchiveWriter(services.clock.now())
  void waitForStop().then(() => archive.abort(new Error('The backup was stopped')))
  const progress = (done: number, total: number) => bar.reach(toMib(done), toMib(total), 'MiB')
  const creating = createBackup(services, { archive, sql, secret, withSecret, progress })
  const bytes = await writeTo(file, archive, creating, lock)
  bar.end()
  await recordBackup(config.dataDir, services.clock.now())
  return { ...countBackup(await creating), bytes, encrypted: lock !== null }
}

/** Waits for the disk, the object store and slow readers as long as they take. */
function openForBackup({ address }: Database): Sql {
  return openSql(address, { max: 1, applicationName: 'shiplock backup', statementTimeoutMs: 0, lasting: true })
}

/** The failure of the file is the cause if both fail, because each makes the other one fail. */
async function writeTo(
  file: string,
  archive: ArchiveWriter,
  creating: Promise<unknown>,
  lock: Lock | null,
): Promise<number> {
  creating.catch((error) => archive.abort(error))
  try {
    const content = lock ? await encrypt(archive.bytes, lock) : archive.bytes
    return await (file === STANDARD ? writeToStandard(content) : writeWhole(file, content))
  } catch (error) {
    archive.abort(error as Error)
    await creating.catch(() => {})
    throw error
  }
}

async function writeToStandard(content: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  process.stdout.on('error', () => {}) // it is thrown below
  for await (const chunk of content) {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()))
    })
    bytes += chunk.length
  }
  return bytes
}

export const backupVerify = defineCommand({
  name: 'backup verify',
  about: 'Reads a backup to its end and compares all of its checksums. Needs no database.',
  arguments: ['file'],
  options: unlockOptions,
  async run({ say, print }, { file }, given) {
    const bar = new ProgressBar(say)
    const opened = await openBackup(await openBackupFile(file, given))
    const closing = await verifyBackup(opened, (done, total) => bar.reach(toMib(done), toMib(total), 'MiB'))
    bar.end()
    const { created_at, has_secret_key, program_version } = opened.opening
    const counts = countBackup(closing)
    const json = { file, created_at, program_version, has_secret_key, ...counts }
    print({
      json,
      text: [`${file} is complete: ${describeCounts(counts)}, of ${created_at}`, ...describeLost(counts)].join('\n'),
    })
  },
})
