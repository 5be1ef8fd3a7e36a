import { isAbsolutePath, isWithin } from './directory.ts'
import { areTopNames } from './top-directory.ts'

/** A directory below which a report has paths that the repository already has. */
export type Fit = {
  directory: string
  /** True if half or more of the paths below the directory are files that the repository has. */
  isOfMostFiles: boolean
  /** True if a file and its directory agree, or two files. One name alone may agree by chance. */
  isCertain: boolean
}

/** The paths that a repository has. Absolute ones say nothing about the checkout. */
export class EarlierPaths {
  readonly #files = new Set<string>()
  readonly #directories = new Set<string>()
  #lengthMax = 0

  constructor(paths: Iterable<string>) {
    for (const path of paths) {
      if (isAbsolutePath(path)) continue
      const end = path.lastIndexOf('/')
      this.#files.add(path)
      this.#lengthMax = Math.max(this.#lengthMax, path.length)
      if (end > 0) this.#directories.add(path.slice(0, end))
    }
  }

  /** True if their first names are those of a whole repository, not of one folder. */
  looksLikeTop(): boolean {
    return areTopNames(this.#files)
  }

  /** The directory below which most names agree; the outermost of several. Null if none agrees. */
  fit(paths: readonly string[], directories: readonly string[]): Fit | null {
    let best: (Score & { directory: string }) | null = null
    for (const directory of directories) {
      const score = this.#score(paths, directory)
      if (score.names > (best?.names ?? 0)) best = { directory, ...score }
    }
    if (best === null) return null
    const { directory, files, total, isDeep } = best
    return { directory, isOfMostFiles: files * 2 >= total, isCertain: isDeep || files > 1 }
  }

  #score(paths: readonly string[], directory: string): Score {
    const score = { names: 0, files: 0, total: 0, isDeep: false }
    for (const path of paths) {
      if (!isWithin(path, directory)) continue
      score.total++
      const end = path.lastIndexOf('/') - directory.length - 1
      if (end > this.#lengthMax) continue
      const rest = path.slice(directory.length + 1)
      if (this.#files.has(rest)) {
        score.names += 2 * rest.split('/').length
        score.files++
        score.isDeep ||= end > 0
      } else if (end > 0 && this.#directories.has(rest.slice(0, end))) score.names += rest.split('/').length - 1
    }
    return score
  }
}

/** What agrees below a directory: names of directories and files, and whole files of `total`. */
type Score = { names: number; files: number; total: number; isDeep: boolean }
