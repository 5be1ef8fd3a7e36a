import { commonNames, isWithin, sharedDirectories } from './directory.ts'

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
export function topDirectory(paths: readonly string[]): string | null {
  const outermost = sharedDirectories(paths).find((directory) => !directory.endsWith(':'))
  if (outermost === undefined) return null
  const inside = paths.filter((path) => isWithin(path, outermost))
  const common = commonNames(inside)
  const top = hasTopNames(inside, common.join('/')) ? common : common.slice(0, endOfTop(common))
  return top.join('/') || null
}

/** True if at least two names in the directory are usual at the top of a repository. */
export function hasTopNames(paths: readonly string[], directory: string): boolean {
  return areTopNames(paths.map((path) => path.slice(directory.length + 1)))
}

/** True if these relative paths begin with at least two names that are usual in a repository. */
export function areTopNames(paths: Iterable<string>): boolean {
  const names = new Set([...paths].map((path) => path.split('/', 1)[0]?.toLowerCase() ?? ''))
  return [...names].filter((name) => TOP_NAMES.has(name)).length > 1
}

/**
 * The number of directories before the first one that is usual in a repository. The root of the
 * machine and the directory after it never count.
 */
export function endOfTop(names: readonly string[]): number {
  const end = names.findIndex(
    (name, at) => at > 1 && TOP_DIRECTORIES.has(name.toLowerCase()) && !OF_MACHINE.has(names[at - 1] as string),
  )
  return end === -1 ? names.length : end
}
