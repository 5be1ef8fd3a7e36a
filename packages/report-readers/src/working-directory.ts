import { realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import { FoundFile, realPath } from './found-file.ts'

/** The directory that files are named in, and whether links may lead out of it. */
export type Place = { cwd: string; followLinks: boolean }

/**
 * A path or a glob that leaves the working directory. `option` is where it was given, and `target`
 * where it leads, if that is one place.
 */
export class OutsideError extends Error {
  readonly option: string | null
  readonly target: string | null

  constructor(option: string | null, pattern: string, target: string | null) {
    super(`"${pattern}" leaves the working directory${target === null ? '' : `, to ${target}`}`)
    this.name = 'OutsideError'
    this.option = option
    this.target = target
  }
}

/** Keeps reads in the working directory, because the links in it are those of whoever wrote the checkout. */
export class WorkingDirectory {
  readonly root: string
  readonly followLinks: boolean

  constructor({ cwd, followLinks }: Place) {
    this.root = realpathSync(cwd)
    this.followLinks = followLinks
  }

  /** True if a path without links may be read. */
  admits(real: string): boolean {
    return this.followLinks || this.#within(real) !== null
  }

  /**
   * The file of a path; null if there is none. It may lie elsewhere if the path has no links, because
   * then it is the caller who names it. Throws an `OutsideError`.
   */
  findFile(name: string, option: string | null = null): FoundFile | null {
    const path = resolve(this.root, name)
    const file = FoundFile.at(path)
    if (file === null || file.real === path || this.admits(file.real)) return file
    throw new OutsideError(option, name, file.real)
  }

  /** The path of a directory; null if there is none. Throws an `OutsideError`. */
  findDirectory(name: string, option: string): string | null {
    const path = resolve(this.root, name)
    const real = realPath(path)
    if (real === null || !statSync(real, { throwIfNoEntry: false })?.isDirectory()) return null
    if (!this.admits(real)) throw new OutsideError(option, name, real)
    return path
  }

  /** The path of a file in the report, with `/`. A file from elsewhere has its name only. */
  artifactPath({ path, real }: FoundFile): string {
    return this.#within(path) ?? this.#within(real) ?? basename(path)
  }

  #within(path: string): string | null {
    const within = relative(this.root, path)
    const isOutside = isAbsolute(within) || within.split(sep)[0] === '..'
    return isOutside ? null : within.replaceAll(sep, '/')
  }
}
