import { posix } from 'node:path'
import { readText } from './check-tree.ts'

/** What package-lock.json knows about a package. */
export type LockedPackage = { name: string; version: string; license?: string; integrity?: string; optional: boolean }

type Entry = {
  name?: string
  version?: string
  license?: string
  integrity?: string
  link?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export type Lockfile = Record<string, Entry>

export const readLockfile = (): Lockfile => JSON.parse(readText('package-lock.json')).packages

/** A package with what it depends on, by paths of the lock file. */
export type Resolved = LockedPackage & { path: string; needs: string[] }

/** Every package that npm installs for a workspace, on any platform. */
export function installedFor(lockfile: Lockfile, workspace: string): Resolved[] {
  const found = new Map<string, Resolved>()
  const add = (path: string, optional: boolean) => {
    const known = found.get(path)
    if (known && (optional || !known.optional)) return
    const needs = dependenciesOf(lockfile, path)
    found.set(path, { ...describe(lockfile, path, optional), path, needs: needs.map(([to]) => to) })
    for (const [to, isOptional] of needs) add(to, optional || isOptional)
  }
  for (const [path, optional] of dependenciesOf(lockfile, workspace)) add(path, optional)
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A package of the lock file by name and version. */
export function findLocked(lockfile: Lockfile, name: string, version: string): LockedPackage {
  const path = Object.keys(lockfile).find(
    (candidate) => nameOf(candidate) === name && lockfile[candidate]?.version === version,
  )
  if (path === undefined) throw new Error(`package-lock.json has no ${name}@${version}`)
  return describe(lockfile, path, false)
}

function describe(lockfile: Lockfile, path: string, optional: boolean): LockedPackage {
  const { version = '', license, integrity } = lockfile[path] ?? {}
  return { name: nameOf(path), version, optional, ...(license && { license }), ...(integrity && { integrity }) }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

function dependenciesOf(lockfile: Lockfile, path: string): [string, boolean][] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lockfile[path] ?? {}
  const optional = Object.keys(optionalDependencies)
  const names = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies), ...optional])
  return [...names].flatMap((name): [string, boolean][] => {
    const to = resolve(lockfile, path, name)
    return to === null ? [] : [[to, optional.includes(name)]]
  })
}

/** As Node.js resolves it: in the package's own directory, or in one above. */
function resolve(lockfile: Lockfile, from: string, name: string): string | null {
  for (let directory = from; ; directory = posix.dirname(directory)) {
    const path = directory === '.' ? `node_modules/${name}` : `${directory}/node_modules/${name}`
    if (lockfile[path] && !lockfile[path].link) return path
    if (directory === '.') return null
  }
}
