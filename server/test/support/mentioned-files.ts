import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** What each source file imports or names: paths of files and of folders, from the root. */
export type Mentions = Map<string, Set<string>>

const SOURCES = '{server,sdk,cli,action,console,release,packages/*}/**/*.{ts,tsx,mjs}'
const NOT_SOURCES = ['**/node_modules/**', '**/dist/**', '**/fixtures/**']
const QUOTED = /'([^'\n]+)'|"([^"\n]+)"|`([^`]*)`/g
/** The part of a path before what is filled in, without the name that it is filled into. */
const FILLED_IN = /[^/]*\$\{.*$/s
/** Folders of the repository, as a path from its root begins. */
const FROM_ROOT =
  /^\/?((?:server|sdk|cli|action|console|release|packages|deploy|docs|templates)\/|[\w-]+\.(?:json|md|mjs)$)/

/** Reads all sources of the repository. A path that is put together is what it begins with. */
export function readMentions(root: string): Mentions {
  const packages = readPackages(root)
  const files = globSync(SOURCES, { cwd: root, exclude: NOT_SOURCES })
  return new Map(files.map((file) => [file, mentionedIn(file, readFileSync(join(root, file), 'utf8'), packages)]))
}

/** The files that depend on a path, however far, and the path itself. */
export function usersOf(path: string, mentions: Mentions): Set<string> {
  const direct = new Map<string, string[]>()
  for (const [file, named] of mentions) {
    for (const name of named) direct.set(name, [...(direct.get(name) ?? []), file])
  }
  const users = new Set([path])
  for (const used of users) {
    for (const name of [used, ...foldersOf(used)]) {
      for (const file of direct.get(name) ?? []) users.add(file)
    }
  }
  return users
}

/** A folder is named for what is in it. */
function foldersOf(path: string): string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [`${folder}/`, ...foldersOf(folder)]
}

export function mentionedIn(file: string, text: string, packages: Map<string, string>): Set<string> {
  const found = new Set<string>()
  for (const [, single, double, template] of text.matchAll(QUOTED)) {
    const quoted = single ?? double ?? template ?? ''
    const own = packages.get(quoted)
    if (own !== undefined) found.add(own)
    const path = quoted.replace(/^\$\{[A-Z_]+\}/, '').replace(FILLED_IN, '')
    const isRelative = path.startsWith('./') || path.startsWith('../')
    if (isRelative) found.add(posix.join(posix.dirname(file), path))
    else if (FROM_ROOT.test(path)) found.add(path.replace(/^\//, ''))
  }
  // Whoever names a folder without a slash at its end means its files, too.
  for (const path of [...found]) if (!posix.basename(path).includes('.') && !path.endsWith('/')) found.add(`${path}/`)
  return found
}

/** The files that the names of our own packages stand for. */
function readPackages(root: string): Map<string, string> {
  const manifests = globSync('{server,sdk,cli,action,console,packages/*}/package.json', { cwd: root })
  return new Map(
    manifests.flatMap((manifest) => {
      const { name, exports = {}, imports = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8'))
      const folder = posix.dirname(manifest)
      const entries = Object.entries<string>(exports).map(([entry, file]): [string, string] => [
        posix.join(name, entry),
        posix.join(folder, file),
      ])
      // The files that an alias stands for, one for each platform, are in one folder.
      const aliases = Object.entries<{ default: string }>(imports).map(([alias, file]): [string, string] => [
        alias,
        `${posix.join(folder, posix.dirname(file.default))}/`,
      ])
      return [...entries, ...aliases]
    }),
  )
}
