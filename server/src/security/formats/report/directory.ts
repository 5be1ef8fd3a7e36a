/** Directories below this depth are not compared. */
const DEPTH_MAX = 32

/** True for `/a` and `C:/a`. The path must be normalized. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/') || /^[a-z]:\//i.test(path)
}

export function isWithin(path: string, directory: string): boolean {
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

/** The directories of a path. Of an absolute path, the first one is empty or a drive. */
function directoryNames(path: string): string[] {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0)).split('/', DEPTH_MAX)
}

/**
 * All directories above more than half of these absolute paths, outermost first. Each one contains
 * the next one.
 */
export function listSharedDirectories(paths: readonly string[]): string[] {
  const shared: string[] = []
  let inside = paths.map(directoryNames)
  for (let depth = 0; ; depth++) {
    const byName = Map.groupBy(inside, (names) => names[depth])
    const most = [...byName].find(([name, of]) => name !== undefined && of.length * 2 > paths.length)
    if (most === undefined) return shared
    inside = most[1]
    const directory = inside[0]?.slice(0, depth + 1).join('/') ?? ''
    // The root of a machine is no checkout.
    if (directory !== '') shared.push(directory)
  }
}

/** The directories that all of these paths have in common. */
export function listCommonNames(paths: readonly string[]): string[] {
  let common: string[] | null = null
  for (const path of paths) {
    const names = directoryNames(path)
    const end: number = common === null ? names.length : common.findIndex((name, at) => name !== names[at])
    common = end === -1 ? common : names.slice(0, end)
  }
  return common ?? []
}

/** At least one in this number of paths must be next to a directory. */
const NEIGHBOURS_MIN = 10

/**
 * True if a tenth of the paths are outside of the directory, and all have a directory in common
 * that is not at the root of a machine.
 */
export function hasNeighbours(directory: string, paths: readonly string[]): boolean {
  const outside = paths.filter((path) => !isWithin(path, directory))
  return outside.length * NEIGHBOURS_MIN >= paths.length && listCommonNames(paths).length > 2
}

/** Directories that are usually at the top of a repository and seldom above it. */
const TOP_DIRECTORIES = new Set(
  'src lib libs test tests spec docs examples packages apps cmd pkg internal vendor node_modules venv .venv .github'.split(
    ' ',
  ),
)

/** What is usual at the top of a repository, in lower case. */
const TOP_NAMES = new Set([
  ...TOP_DIRECTORIES,
  ...'.circleci .gitlab-ci.yml'.split(' '),
  ...'build.gradle cargo.toml composer.json dockerfile gemfile go.mod index.js main.tf makefile'.split(' '),
  ...'package.json package-lock.json pom.xml pyproject.toml readme.md requirements.txt setup.py tsconfig.json'.split(
    ' ',
  ),
])

/** Directories of a machine that contain a `src` or `lib` of the machine. */
const OF_MACHINE = new Set(['usr', 'var', 'local', 'go'])

/**
 * The directory that is most likely the top of the repository, by its paths alone: the common
 * directory of those that are in one directory of the machine, but only down to a directory that is
 * usual in a repository. Null if that is the root of the machine.
 */
export function findTopDirectory(paths: readonly string[]): string | null {
  const outermost = listSharedDirectories(paths).find((directory) => !directory.endsWith(':'))
  if (outermost === undefined) return null
  const inside = paths.filter((path) => isWithin(path, outermost))
  const common = listCommonNames(inside)
  const top = hasTopNames(inside, common.join('/')) ? common : common.slice(0, countNamesAboveTop(common))
  return top.join('/') || null
}

/** True if at least two names in the directory are usual at the top of a repository. */
export function hasTopNames(paths: readonly string[], directory: string): boolean {
  return hasRepositoryNames(paths.map((path) => path.slice(directory.length + 1)))
}

/** True if these relative paths begin with at least two names that are usual in a repository. */
export function hasRepositoryNames(paths: Iterable<string>): boolean {
  const names = new Set([...paths].map((path) => path.split('/', 1)[0]?.toLowerCase() ?? ''))
  return [...names].filter((name) => TOP_NAMES.has(name)).length > 1
}

/**
 * The number of directories before the first one that is usual in a repository. The root of the
 * machine and the directory after it never count.
 */
export function countNamesAboveTop(names: readonly string[]): number {
  const end = names.findIndex(
    (name, at) => at > 1 && TOP_DIRECTORIES.has(name.toLowerCase()) && !OF_MACHINE.has(names[at - 1] as string),
  )
  return end === -1 ? names.length : end
}
