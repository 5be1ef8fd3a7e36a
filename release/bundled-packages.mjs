// Which packages a bundle contains. The builds write the list beside their files, as
// `.packages.json`, because nobody can see it in a finished bundle.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const PACKAGES_FILE = '.packages.json'

/** Writes names and versions of the packages that the files of a bundle belong to. */
export function notePackages(directory, files) {
  const found = new Map()
  for (const file of files) {
    const { name, version } = packageOf(file) ?? {}
    if (name) found.set(`${name}@${version}`, { name, version })
  }
  const packages = [...found.keys()].sort().map((key) => found.get(key))
  writeFileSync(join(directory, PACKAGES_FILE), `${JSON.stringify(packages, null, 2)}\n`)
}

/** The nearest package above an installed file. A package.json without a version only sets options. */
function packageOf(file) {
  if (!file.includes('node_modules/')) return null
  for (let directory = dirname(file); !directory.endsWith('node_modules'); directory = dirname(directory)) {
    const path = join(directory, 'package.json')
    const manifest = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
    if (manifest.name && manifest.version) return manifest
  }
  return null
}
