import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataDirectory, synchronizeDirectory, toNullIfMissing } from './files.ts'
import { isAlive } from './processes.ts'

/** Contains the id of the process that restores. It is removed when everything is on disk. */
const MARKER = '.restore-unfinished'
/** What file systems have of their own. */
const NOT_OURS = ['lost+found']

/**
 * Throws if a restore into the data directory was interrupted: what is there is incomplete. Throws
 * if the directory cannot be read: the program looks here first.
 */
export async function checkNoUnfinishedRestore(dataDir: string): Promise<void> {
  const pid = await readMarker(dataDir).catch((cause) => {
    throw new Error(`The data directory cannot be read (${cause.message}); check SHIPLOCK_DATA_DIR`, { cause })
  })
  if (pid === null) return
  const state = isOther(pid) ? `is running (pid ${pid})` : 'was interrupted; run restore again'
  throw new Error(`A restore into ${dataDir} ${state}`)
}

/**
 * Marks an empty data directory as one that is being restored into. What an interrupted restore
 * left there is removed first, after `stop` has stopped its database. Throws if there is anything
 * else.
 */
export async function startRestore(dataDir: string, stop: () => Promise<void>): Promise<void> {
  await makeDataDirectory(dataDir, 0o700)
  const pid = await readMarker(dataDir)
  if (pid === null) {
    const found = (await readdir(dataDir)).filter((name) => !NOT_OURS.includes(name))
    const names = found.slice(0, 3).join(', ')
    if (found.length > 0) throw new Error(`${dataDir} is not empty (it has ${names}); restore into an empty directory`)
  } else {
    if (isOther(pid)) await checkNoUnfinishedRestore(dataDir)
    await stop()
    await removeContents(dataDir)
    await rm(join(dataDir, MARKER))
  }
  await using marker = await open(join(dataDir, MARKER), 'wx', 0o600)
  await marker.writeFile(`${process.pid}\n`)
  await marker.sync()
  await synchronizeDirectory(dataDir)
}

/** Declares what was restored complete. It must be on disk. */
export async function completeRestore(dataDir: string): Promise<void> {
  await synchronizeDirectory(dataDir)
  await rm(join(dataDir, MARKER))
  await synchronizeDirectory(dataDir)
}

/** Leaves an empty directory, after a restore that has failed. */
export async function abandonRestore(dataDir: string): Promise<void> {
  await removeContents(dataDir)
  await rm(join(dataDir, MARKER), { force: true })
}

async function removeContents(dataDir: string): Promise<void> {
  const names = await readdir(dataDir)
  const ours = names.filter((name) => name !== MARKER && !NOT_OURS.includes(name))
  for (const name of ours) await rm(join(dataDir, name), { recursive: true, force: true })
}

/** The process id in the marker, 0 if it is unreadable; null without a marker. */
async function readMarker(dataDir: string): Promise<number | null> {
  const text = await toNullIfMissing(readFile(join(dataDir, MARKER), 'utf8'))
  return text === null ? null : Number.parseInt(text, 10) || 0
}

/** In a container, an interrupted restore may have had our own id. */
function isOther(pid: number): boolean {
  return pid !== process.pid && isAlive(pid)
}

const FILE_NAME = 'last-backup'

/** Notes in the data directory that a backup was completed, for `doctor`. */
export async function recordBackup(dataDir: string, at: Date): Promise<void> {
  const path = join(dataDir, FILE_NAME)
  const partial = `${path}.${process.pid}`
  await writeFile(partial, `${at.toISOString()}\n`, { mode: 0o600 })
  await rename(partial, path)
}

/** When the last backup of the data directory was completed; null if there was none. */
export async function readLastBackup(dataDir: string): Promise<Date | null> {
  const text = await toNullIfMissing(readFile(join(dataDir, FILE_NAME), 'utf8'))
  const at = new Date(text?.trim() ?? '')
  return Number.isNaN(at.getTime()) ? null : at
}
