import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { synchronizeDirectory } from './files.ts'
import { isAlive } from './processes/is-alive.ts'

const OWNER_ONLY = 0o600

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
