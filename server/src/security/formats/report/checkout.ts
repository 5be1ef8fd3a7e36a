import {
  countNamesAboveTop,
  findTopDirectory,
  hasNeighbours,
  hasRepositoryNames,
  hasTopNames,
  isAbsolutePath,
  isWithin,
  listCommonNames,
  listSharedDirectories,
} from './directory.ts'

/** What is known of a repository before its report is read. */
export type KnownRepository = {
  /** Its full name on its host; null if there is none. */
  name: string | null
  /** Paths of its stored findings, or some of them. */
  paths: readonly string[]
}

/** Looks up what is known of the report's repository. Called at most once for a report. */
export type ReadRepository = () => Promise<KnownRepository>

export type Evidence = KnownRepository & {
  /** The directories in which the tool ran. */
  workingDirectories: readonly string[]
}

/** The directories of a machine into which a repository was checked out. */
export type Checkout = {
  directories: string[]
  /** True if nothing but the paths themselves or a single name is a reason for the directories. */
  isGuess: boolean
}

/** A report may be merged of the reports of several machines. */
const CHECKOUTS_MAX = 4

/**
 * Infers from the absolute paths of a report where the repository was checked out. Most of the
 * paths must be in the checkout. The first of these reasons applies:
 *
 * 1. Paths in the directory are paths that the repository already has, and the directory is not
 *    within one that has the repository's full name.
 * 2. The directory has the repository's name.
 * 3. The tool ran in the directory, unless a directory above it has the repository's name.
 * 4. The directory looks like the top of a repository, else it is the paths' common directory.
 */
export function computeCheckout(paths: readonly string[], evidence: Evidence): Checkout {
  const earlier = new EarlierPaths(evidence.paths)
  const directories: string[] = []
  let rest = ownPaths(paths)
  while (rest.length > 0 && directories.length < CHECKOUTS_MAX) {
    const found = explainedDirectory(rest, evidence, earlier)
    if (found === null || (!found.isCertain && directories.length > 0)) break
    const { directory, isCertain } = found
    directories.push(directory)
    if (!isCertain) return { directories, isGuess: true }
    rest = rest.filter((path) => !isWithin(path, directory))
  }
  if (directories.length > 0 || rest.length === 0) return { directories, isGuess: false }
  const top = findTopDirectory(rest)
  return { directories: top === null ? [] : [top], isGuess: true }
}

type Explained = { directory: string; isCertain: boolean }

function explainedDirectory(paths: readonly string[], evidence: Evidence, earlier: EarlierPaths): Explained | null {
  const shared = listSharedDirectories(paths)
  const named = evidence.name === null ? null : findNamedDirectory(paths, shared, evidence.name)
  const fit = earlier.fit(paths, shared)
  // After all code moved into a folder, the folder fits better than the checkout.
  if (fit !== null && named?.isFullName && isWithin(fit.directory, named.directory)) return named
  if (fit?.isOfMostFiles && fit.isCertain) return earlier.looksLikeTop() ? fit : widened(fit, paths)
  const ranIn = shared.find((directory) => evidence.workingDirectories.includes(directory))
  if (ranIn === undefined) return named ?? (fit && widened(fit, paths))
  return named !== null && isWithin(ranIn, named.directory) ? named : { directory: ranIn, isCertain: true }
}

/**
 * An earlier guess is too deep if it was made when only one folder of the repository had findings.
 * Then other files of the report are next to it.
 */
function widened(found: Explained, paths: readonly string[]): Explained {
  const isTooDeep = hasNeighbours(found.directory, paths)
  const top = isTooDeep ? findTopDirectory(paths) : null
  return top !== null && isWithin(found.directory, top) ? { directory: top, isCertain: false } : found
}

/** Headers and libraries of the machine that scanned. They are not part of any checkout. */
const SYSTEM =
  /^(?:\/(?:usr\/(?:local\/)?(?:include|lib(?:32|64|exec)?|share)|lib(?:32|64)?|etc|nix\/store|System|Library|Applications)|[a-z]:\/(?:Program Files(?: \(x86\))?|ProgramData|Windows))\//i

/** Installed packages and hidden directories, which may be outside of the checkout. */
const INSTALLED =
  /\/(?:node_modules|bower_components|(?:site|dist)-packages|hostedtoolcache|pkg\/mod|\.(?!github\/|gitlab\/|circleci\/)[^/]+)\//

/** The paths that say something about the checkout. */
function ownPaths(paths: readonly string[]): string[] {
  const ofUsers = paths.filter((path) => !SYSTEM.test(path))
  const own = ofUsers.filter((path) => !INSTALLED.test(path))
  return own.length > 0 ? own : ofUsers
}

/** The directories of the scanning machines into which a report's repository was checked out. */
export class CheckoutDirectories {
  #directories: readonly string[] | null = null
  /** True once an absolute path was looked up while the directories were not known. */
  isWanted = false

  set(directories: readonly string[]): void {
    this.#directories = directories
    this.isWanted = false
  }

  /**
   * The path from the top of the repository. Outside of a checkout `/file` is `file`, unless the
   * path is one of an image.
   */
  relative(path: string, isInImage = false): string {
    if (!isAbsolutePath(path)) return path
    if (this.#directories === null) {
      this.isWanted = true
      return path
    }
    const directory = this.#directories.find((candidate) => path !== candidate && isWithin(path, candidate))
    if (directory !== undefined) return path.slice(directory.length + 1)
    return isInImage ? path : path.replace(/^\//, '')
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
function findNamedDirectory(
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
class EarlierPaths {
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
