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
export function sharedDirectories(paths: readonly string[]): string[] {
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
export function commonNames(paths: readonly string[]): string[] {
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
  return outside.length * NEIGHBOURS_MIN >= paths.length && commonNames(paths).length > 2
}
