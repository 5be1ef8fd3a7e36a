import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAlive } from './processes.ts'

/** Returns the operation's result, or null if its file does not exist. */
export async function toNullIfMissing<Result>(operation: Promise<Result>): Promise<Result | null> {
  try {
    return await operation
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Makes a directory and those above it. Returns whether it is new. The recursive `mkdir` of Node
 * never ends where the system refuses a directory with ENOENT, as in /proc.
 */
export async function makeDirectory(path: string, mode?: number): Promise<boolean> {
  try {
    return await makeOne(path, mode)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    await makeDirectory(parent, mode)
    return makeOne(path, mode)
  }
}

async function makeOne(path: string, mode: number | undefined): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(path)).isDirectory()) return false
    throw error
  }
}

/** `makeDirectory` for the data directory: the error names its setting. */
export async function makeDataDirectory(path: string, mode?: number): Promise<void> {
  await makeDirectory(path, mode).catch((cause) => {
    throw new Error(`The data directory cannot be made (${cause.message}); check SHIPLOCK_DATA_DIR`, { cause })
  })
}

/**
 * Makes the names in a directory durable. A synced file can still be lost in a power cut if its
 * name was not synced.
 */
export async function synchronizeDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

const OWNER_ONLY = 0o600

/**
 * Stores a text in a new file that only we can read, unless there is a file of that name, and
 * returns the text that it has. The file is complete before it gets its name: a second process
 * finds the name taken and reads it.
 */
export async function saveOnce(path: string, text: string): Promise<string> {
  const directory = dirname(path)
  const temporary = join(directory, `.${basename(path)}-${randomUUID()}`)
  try {
    await writeDurably(temporary, text)
    await linkUnlessTaken(temporary, path)
    await synchronizeDirectory(directory)
    return await readFile(path, 'utf8')
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', OWNER_ONLY)
  await file.writeFile(text)
  await file.sync()
}

async function linkUnlessTaken(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Replaces a file of an account's directory, whose owner may put links there while we are root: the
 * name of the new file cannot be guessed, and its owner is changed through its handle.
 */
export async function writeForAccount(
  path: string,
  text: string,
  account: { uid: number; gid: number } | undefined,
): Promise<void> {
  const partial = `${path}.${randomUUID()}`
  try {
    await using file = await open(partial, 'wx', OWNER_ONLY)
    await file.writeFile(text)
    if (account) await file.chown(account.uid, account.gid)
    await file.sync()
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/**
 * Writes a file that gets its name when it is complete and on disk. A failure leaves nothing; what
 * a killed process left is removed by the next call for the same name. Only we can read the file.
 */
export async function writeWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  await removeAbandoned(path)
  const partial = `${path}.partial-${process.pid}`
  let bytes = 0
  try {
    await using file = await open(partial, 'wx', OWNER_ONLY)
    for await (const chunk of content) {
      await file.writeFile(chunk)
      bytes += chunk.length
    }
    await file.sync()
    await rename(partial, path)
    await synchronizeDirectory(dirname(path))
    return bytes
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const start = `${basename(path)}.partial-`
  for (const name of await readdir(dirname(path))) {
    const pid = name.startsWith(start) ? Number(name.slice(start.length)) : 0
    if (pid === process.pid || (pid > 0 && !isAlive(pid))) await rm(join(dirname(path), name), { force: true })
  }
}
