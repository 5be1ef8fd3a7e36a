import { constants, lstatSync, realpathSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/**
 * Opens neither a link nor, until it is written to, a pipe. A flag that a system lacks is undefined,
 * which counts as 0.
 */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * A file that was found. Whoever reads it reads this very file: a program of the same job could put a
 * link to a secret in its place meanwhile.
 */
export class FoundFile {
  /** How it was named, made absolute. */
  readonly path: string
  /** The same without links. */
  readonly real: string
  readonly #device: bigint
  readonly #inode: bigint

  private constructor(path: string, real: string, { dev, ino }: { dev: bigint; ino: bigint }) {
    this.path = path
    this.real = real
    this.#device = dev
    this.#inode = ino
  }

  /** The file of this absolute path; null if there is none. */
  static at(path: string): FoundFile | null {
    const real = realPath(path)
    if (real === null) return null
    const stats = lstatSync(real, { bigint: true, throwIfNoEntry: false })
    return stats?.isFile() ? new FoundFile(path, real, stats) : null
  }

  /** Throws the error of the file system, or one that says that the file was replaced. */
  async open(): Promise<FileHandle> {
    const handle = await open(this.real, FLAGS).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ELOOP' ? this.#replaced() : error
    })
    const stats = await handle.stat({ bigint: true })
    // The number of a file that was deleted may be that of a new one, such as a pipe.
    const isSame = stats.isFile() && stats.dev === this.#device && stats.ino === this.#inode
    if (isSame && realPath(this.real) === this.real) return handle
    await handle.close()
    throw this.#replaced()
  }

  /** The text, in UTF-8; null if it is larger than `bytesMax`. */
  async readText(bytesMax = Number.POSITIVE_INFINITY): Promise<string | null> {
    const handle = await this.open()
    try {
      const { size } = await handle.stat()
      return size > bytesMax ? null : await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  }

  #replaced(): Error {
    return new Error(`${this.path} was replaced after it was found`)
  }
}

/** Says for people why there is no file at a path. */
export function describeMissing(path: string): string {
  try {
    statSync(path)
    return 'is not a file'
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
}

/** A path without links; null if it leads nowhere. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
