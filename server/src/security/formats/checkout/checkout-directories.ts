import { isAbsolutePath, isWithin } from './directory.ts'

/** The directories of the scanning machines into which a report's repository was checked out. */
export class CheckoutDirectories {
  #directories: readonly string[] | null = null
  /** True once an absolute path was looked up while the directories were not known. */
  isWanted = false

  set(directories: readonly string[]): void {
    this.#directories = directories
    this.isWanted = false
  }

  /** The path from the top of the repository; unchanged if it is not in a checkout. */
  relative(path: string): string {
    if (!isAbsolutePath(path)) return path
    if (this.#directories === null) {
      this.isWanted = true
      return path
    }
    const directory = this.#directories.find((candidate) => path !== candidate && isWithin(path, candidate))
    return directory === undefined ? path : path.slice(directory.length + 1)
  }
}

/** The checkout is inferred from the first files of a report, if it has more. */
const PATHS_MAX = 20_000
const TEXT_MAX = 4 * 1024 * 1024

/** The distinct paths of a report, up to a limit. */
export class ReportPaths {
  readonly absolute = new Set<string>()
  readonly relative = new Set<string>()
  #text = 0

  get isFull(): boolean {
    return this.absolute.size + this.relative.size >= PATHS_MAX || this.#text > TEXT_MAX
  }

  add(path: string | null): void {
    if (path === null || this.isFull) return
    const paths = isAbsolutePath(path) ? this.absolute : this.relative
    if (paths.has(path)) return
    paths.add(path)
    this.#text += path.length
  }
}
