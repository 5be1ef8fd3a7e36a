import {
  countNamesAboveTop,
  hasNeighbours,
  hasRepositoryNames,
  hasTopNames,
  isAbsolutePath,
  isWithin,
  listCommonNames,
} from './directory.ts'

/**
 * A directory that has the name of the repository. It is uncertain if there are several. It is a
 * full name if the owner's name or a work directory with the same name is above it.
 */
type NamedDirectory = { directory: string; isCertain: boolean; isFullName: boolean }

/** GitHub's runners check out to `<work>/<name>/<name>`. These are names of the work directory. */
const RUNNER_WORK = new Set(['work', '_work', '__w', 'a'])

/**
 * The directory above most of these paths that has the name of the repository (`group/app`), or a
 * longer name: `group-app`, `app_main`, `app@2`. Null if there is none. `shared` are all
 * directories above most of the paths.
 */
export function findNamedDirectory(
  paths: readonly string[],
  shared: readonly string[],
  repository: string,
): NamedDirectory | null {
  const [name = '', owner = ''] = repository.toLowerCase().split('/').reverse()
  const first = shared.find((directory) => lastName(directory) === name)
  const joined = shared.find((directory) => lastName(directory).replace(/[_@+-]+/g, '') === owner + name)
  if (joined !== undefined && joined !== first && (first === undefined || isWithin(first, joined))) {
    return { directory: joined, isCertain: true, isFullName: true }
  }
  if (first !== undefined) return checkoutWithin(first, paths, name, owner)
  const longer = shared.find((directory) => isLonger(lastName(directory), name))
  return longer === undefined ? null : { directory: longer, isCertain: false, isFullName: false }
}

function lastName(directory: string): string {
  return directory.slice(directory.lastIndexOf('/') + 1).toLowerCase()
}

/** `first` is the outermost directory of that name. There may be others in it. */
function checkoutWithin(first: string, paths: readonly string[], name: string, owner: string): NamedDirectory | null {
  const inside = paths.filter((path) => isWithin(path, first))
  const common = listCommonNames(inside)
  const names = common.map((directory) => directory.toLowerCase())
  const to = (index: number, isCertain: boolean, isFullName = false) => {
    return { directory: common.slice(0, index + 1).join('/'), isCertain, isFullName }
  }
  const ofRunner = names.findIndex(
    (work, at) => RUNNER_WORK.has(work) && work !== name && names[at + 1] === name && names[at + 2] === name,
  )
  if (ofRunner !== -1) return to(ofRunner + 2, true, true)
  const ofOwner = names.findIndex((directory, at) => directory === owner && names[at + 1] === name)
  if (ofOwner !== -1) return to(ofOwner + 1, owner !== name, owner !== name)
  const last = names.lastIndexOf(name)
  // A directory of the same name in the checkout is usually the main package of the repository.
  const found = to(names[last - 1] === name ? last - 1 : last, names.indexOf(name) === last)
  if (hasNeighbours(found.directory, paths)) return null
  if (countNamesAboveTop(names) > last) return found
  return hasTopNames(inside, found.directory) ? { ...found, isCertain: false } : null
}

function isLonger(directory: string, name: string): boolean {
  return directory.startsWith(name) && /^[_@+.-]/.test(directory.slice(name.length))
}

/** A directory below which a report has paths that the repository already has. */
type Fit = {
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
    return hasRepositoryNames(this.#files)
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
