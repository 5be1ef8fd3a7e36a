import { commonNames, isWithin } from './file-path.ts'

/** A directory that has the name of the repository. It is uncertain if there are several. */
export type NamedDirectory = { directory: string; isCertain: boolean }

/** GitHub's runners check out to `<work>/<name>/<name>`. Their work directory has one of these names. */
const RUNNER_WORK = new Set(['work', '_work', '__w', 'a'])

/** Directories of a repository that contain directories which may have its name. */
const INNER = new Set(['packages', 'apps', 'services', 'modules', 'src', 'lib', 'libs', 'vendor', 'node_modules'])

/**
 * The directory above most of these paths that has the name of the repository (`group/app`), or a
 * name that begins with it: `app_main`, `group-app`, `app@2`. Null if there is none. `shared` are
 * all directories above most of the paths.
 */
export function namedDirectory(
  paths: readonly string[],
  shared: readonly string[],
  repository: string,
): NamedDirectory | null {
  const [name = '', owner = ''] = repository.toLowerCase().split('/').reverse()
  const first = shared.find((directory) => lastName(directory) === name)
  if (first === undefined) {
    const similar = shared.find((directory) => isSimilar(lastName(directory), name, owner))
    return similar === undefined ? null : { directory: similar, isCertain: false }
  }
  const names = commonNames(paths.filter((path) => isWithin(path, first)))
  const { at, isCertain } = checkoutAmong(
    names.map((directory) => directory.toLowerCase()),
    name,
    owner,
  )
  return { directory: names.slice(0, at + 1).join('/'), isCertain }
}

function lastName(directory: string): string {
  return directory.slice(directory.lastIndexOf('/') + 1).toLowerCase()
}

/** The index of the directory that is the checkout, among directories in lower case. */
function checkoutAmong(names: readonly string[], name: string, owner: string): { at: number; isCertain: boolean } {
  const last = names.lastIndexOf(name)
  const ofRunner = names.findIndex(
    (work, at) => RUNNER_WORK.has(work) && work !== name && names[at + 1] === name && names[at + 2] === name,
  )
  if (ofRunner !== -1) return { at: ofRunner + 2, isCertain: true }
  const ofOwner = names.findIndex((directory, at) => directory === owner && names[at + 1] === name)
  if (ofOwner !== -1) return { at: ofOwner + 1, isCertain: owner !== name }
  const isInner = names.slice(0, last).some((directory, at) => INNER.has(directory) && names[at - 1] !== 'usr')
  // A directory of the same name in the checkout is usually the main package of the repository.
  const at = names[last - 1] === name ? last - 1 : last
  return { at, isCertain: names.indexOf(name) === last && !isInner }
}

function isSimilar(directory: string, name: string, owner: string): boolean {
  const isLonger = directory.startsWith(name) && /^[_@+.-]/.test(directory.slice(name.length))
  return isLonger || directory.replace(/[_@+-]+/g, '') === owner + name
}
