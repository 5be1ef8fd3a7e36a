import { appendFile, chmod, chown, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { isAlive, run, WORKING_DIRECTORY } from './child-process.ts'
import { type PostgresSettings, settingsFile } from './settings.ts'

/** A cluster's directory, and what makes it and runs it. */
export type ClusterOptions = {
  cluster: string
  binaries: string
  account: Account
  settings: PostgresSettings
  say: (line: string) => void
}

/** Role and database of the embedded server. */
export const ROLE = 'shiplock'

const SETTINGS_FILE = 'shiplock.conf'

/**
 * The cluster is the directory 0700 that holds data files and socket. Local connections are trusted: whoever can enter
 * it can read the data files anyway, and nobody else reaches the socket.
 */
const INITDB = [
  ['-D', WORKING_DIRECTORY, '-U', ROLE, '--auth=trust', '--no-instructions'],
  // Byte order of code points: independent of the C library, so an index never breaks by an upgrade of the system.
  ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
].flat()

/**
 * Makes the cluster unless there is one. It is made under a temporary name and renamed when whole, so an interruption
 * leaves nothing that looks like a cluster. Of two processes at once, the first to rename wins and the other joins.
 */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  const { cluster, account, say } = options
  await removeAbandoned(cluster)
  if (await stat(cluster).catch(() => undefined)) return
  say('creating the database (once, about two seconds)')
  const partial = `${cluster}.initializing-${process.pid}`
  await mkdir(partial, { mode: 0o700 })
  try {
    if (account) await chown(partial, account.uid, account.gid)
    await initialize(partial, options)
    await rename(partial, cluster).catch(refuseUnlessExisting)
    await syncDirectory(dirname(cluster))
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function initialize(directory: string, { binaries, account, settings }: ClusterOptions): Promise<void> {
  const initdb = settings.fsync === 'off' ? [...INITDB, '--no-sync'] : INITDB
  await run(join(binaries, 'bin/initdb'), initdb, { account, cwd: directory })
  await appendFile(join(directory, 'postgresql.conf'), `\ninclude '${SETTINGS_FILE}'\n# your own settings go here\n`)
  await writeSettings(directory, account, settings)
  const singleUser = ['--single', '-D', WORKING_DIRECTORY, 'postgres']
  await run(join(binaries, 'bin/postgres'), singleUser, {
    account,
    cwd: directory,
    input: `create database ${ROLE};\n`,
  })
}

/** Renews the settings file; written aside and renamed because a server may be reading it. */
export async function writeSettings(cluster: string, account: Account, overrides: PostgresSettings): Promise<void> {
  const partial = join(cluster, `${SETTINGS_FILE}.${process.pid}`)
  await writeFile(partial, settingsFile(overrides))
  await chmod(partial, 0o600)
  if (account) await chown(partial, account.uid, account.gid)
  await rename(partial, join(cluster, SETTINGS_FILE))
}

/** Removes what interrupted initialisations left: their names end in the id of a process that is gone. */
async function removeAbandoned(cluster: string): Promise<void> {
  const parent = dirname(cluster)
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    const pid = path.startsWith(`${cluster}.initializing-`) && Number(path.split('-').at(-1))
    if (pid && (pid === process.pid || !isAlive(pid))) await rm(path, { recursive: true, force: true })
  }
}

function refuseUnlessExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}
