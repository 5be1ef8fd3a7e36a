import { appendFile, chown, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeForAccount } from '../../files.ts'
import { isAlive } from '../../processes.ts'
import { type Account, run, WORKING_DIRECTORY } from './child-process.ts'
import { ROLE, updatePassword } from './password.ts'
import { logTail } from './postmaster.ts'
import { formatSettingsFile, type PostgresSettings } from './settings.ts'

/** A cluster's directory, and what is needed to create and run it. */
export type ClusterOptions = {
  cluster: string
  binaries: string
  account: Account
  settings: PostgresSettings
  password: string
  say: (line: string) => void
}

/** The cluster's directory in the data directory. */
export const CLUSTER = 'postgres'

/** The database of the embedded server. */
export const DATABASE = 'shiplock'

const SETTINGS_FILE = 'shiplock.conf'

/**
 * The cluster is a directory of mode 0700 with the data files and the socket. Nobody can connect
 * until the password is set: initdb could not read a file with it, because it runs as the account.
 */
const INITDB = [
  ['-D', WORKING_DIRECTORY, '-U', ROLE, '--auth=reject', '--no-instructions'],
  // Sorts by code point, independent of the C library, so that a system upgrade cannot break an
  // index.
  ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
].flat()

/**
 * Creates the cluster if it does not exist. It gets its name when complete, so an interruption
 * leaves nothing that looks like a cluster. Of two processes, the first to rename wins.
 */
export async function createMissingCluster(options: ClusterOptions): Promise<void> {
  const { cluster, account, say } = options
  await removeAbandoned(cluster)
  if (await stat(cluster).catch(() => undefined)) return
  say('creating the database (once, about two seconds)')
  const partial = `${cluster}.initializing-${process.pid}`
  await mkdir(partial, { mode: 0o700 })
  try {
    if (account) await chown(partial, account.uid, account.gid)
    await initialize(partial, options)
    // Another process may have created it meanwhile.
    await rename(partial, cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
    await synchronizeDirectory(dirname(cluster))
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function initialize(directory: string, options: ClusterOptions): Promise<void> {
  const { cluster, binaries, account, settings } = options
  const initdb = settings.fsync === 'off' ? [...INITDB, '--no-sync'] : INITDB
  await run(join(binaries, 'bin/initdb'), initdb, { account, cwd: directory })
  await appendFile(join(directory, 'postgresql.conf'), `\ninclude '${SETTINGS_FILE}'\n# your own settings go here\n`)
  await writeSettings(directory, account, settings)
  if (await updatePassword(directory, options, [`create database ${DATABASE}`])) return
  throw new Error(`The database cannot be made: ${await logTail(cluster)}`)
}

/** Rewrites the settings file. It is renamed into place because a server may be reading it. */
export async function writeSettings(cluster: string, account: Account, overrides: PostgresSettings): Promise<void> {
  await writeForAccount(join(cluster, SETTINGS_FILE), formatSettingsFile(overrides), account)
}

/**
 * Removes the remains of interrupted initializations. Their names end in the id of an ended
 * process.
 */
async function removeAbandoned(cluster: string): Promise<void> {
  const parent = dirname(cluster)
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    const pid = path.startsWith(`${cluster}.initializing-`) && Number(path.split('-').at(-1))
    if (pid && (pid === process.pid || !isAlive(pid))) await rm(path, { recursive: true, force: true })
  }
}

export async function synchronizeDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}

/** The cluster that will replace the present one, while data is copied into it. */
export const NEW_CLUSTER = 'postgres.upgrading'
/** A file in the new cluster: it is complete, and the major version of the one that it replaces. */
const COMPLETE = 'shiplock-replaces'

/** The name under which the replaced cluster is kept. */
export function getReplacedName(major: number): string {
  return `${CLUSTER}-${major}`
}

/**
 * Puts the complete new cluster into the place of the present one, which is kept. Both are stopped.
 * From the first rename on, the next start completes it.
 */
export async function applyReplacement(dataDir: string, major: number): Promise<void> {
  const [present, next] = [join(dataDir, CLUSTER), join(dataDir, NEW_CLUSTER)]
  await writeFile(join(next, COMPLETE), `${major}\n`, { flush: true })
  await synchronizeDirectory(next)
  await rename(present, join(dataDir, getReplacedName(major)))
  await synchronizeDirectory(dataDir)
  await completeReplacement(dataDir)
}

/** Completes a replacement that was interrupted between its two renames. */
export async function completeReplacement(dataDir: string): Promise<void> {
  const [present, next] = [join(dataDir, CLUSTER), join(dataDir, NEW_CLUSTER)]
  if ((await exists(present)) || !(await exists(join(next, COMPLETE)))) return
  await rename(next, present).catch(async (error) => {
    if (!(await exists(present))) throw error // otherwise another process has just completed it
  })
  await synchronizeDirectory(dataDir)
  await rm(join(present, COMPLETE), { force: true })
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
