// Which sources a build was made from.
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CONSOLE = join(import.meta.dirname, '..')
/** Files that a build reads. Tests and what is generated for the type check are none of them. */
const SOURCES = [
  'src/**/*',
  'public/**/*',
  'build/*',
  '*.{html,json,mjs,ts}',
  '../app-openapi.json',
  '../docs/policies/*',
  '../packages/verify/{package.json,src/**/*}',
  '../package-lock.json',
]
const OTHERS = ['**/*.test.{ts,tsx}', 'src/api/schema.ts']
const NOTE = '.built-from'

/** A hash of the paths and the contents of all sources. */
export function hashSources() {
  const hash = createHash('sha256')
  for (const path of globSync(SOURCES, { cwd: CONSOLE, exclude: OTHERS }).sort()) {
    const contents = readIfFile(join(CONSOLE, path))
    if (contents !== null) hash.update(`${path.replaceAll('\\', '/')}\0${contents.length}\0`).update(contents)
  }
  return hash.digest('hex')
}

/** The hash of the sources of the build in dist; null if there is none. */
export function builtFrom() {
  return readIfFile(join(CONSOLE, 'dist', NOTE))?.toString('utf8') ?? null
}

export function noteSources(directory, sources) {
  writeFileSync(join(directory, NOTE), sources)
}

function readIfFile(path) {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error.code === 'EISDIR' || error.code === 'ENOENT') return null
    throw error
  }
}
