// npm run build --workspace server [-- DIRECTORY]: writes what the published package runs into
// server/dist, or into the directory: JavaScript, migrations and the console. Node.js strips types
// only outside of node_modules, so the package contains no TypeScript. `npm pack` calls it.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'

const SERVER = import.meta.dirname
const REPOSITORY = join(SERVER, '..')
const CONSOLE = join(REPOSITORY, 'console')
const DIST = process.argv[2] ?? join(SERVER, 'dist')
/** Paths of other files of the server: imports, threads and processes. */
const TYPESCRIPT_PATH = /'(\.{1,2}\/[^'\n]+)\.ts'/g

/** The files that names of our own packages stand for, by the quoted name. */
const ENTRIES = new Map()
const QUOTED_NAME = /'@shiplock\/[^'\n]+'/g

rmSync(DIST, { recursive: true, force: true })
const { devDependencies } = readManifest(SERVER)
for (const name of Object.keys(devDependencies)) publishPackage(name, name.replace('@shiplock/', 'packages/'))
for (const path of listSources(SERVER)) publish(join(SERVER, path), path)
cpSync(join(SERVER, 'migrations'), join(DIST, 'migrations'), { recursive: true })
for (const file of ['schema.sql', 'package.json']) cpSync(join(SERVER, file), join(DIST, file))
buildConsole()
cpSync(join(CONSOLE, 'dist'), join(DIST, 'console'), { recursive: true })

/** Our own packages are not published: the server's package has their files, and imports them by path. */
function publishPackage(name, folder) {
  const source = join(REPOSITORY, folder)
  for (const [entry, path] of Object.entries(readManifest(source).exports))
    ENTRIES.set(`'${join(name, entry)}'`, join(folder, path))
  for (const path of listSources(source)) publish(join(source, path), join(folder, path))
}

function readManifest(directory) {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
}

function listSources(directory) {
  return globSync('src/**/*.{ts,json}', { cwd: directory, exclude: ['**/*.test.ts'] })
}

/**
 * Writes a file to its path in the package. Types become white space, so that lines and columns in
 * stack traces are those of the source.
 */
function publish(source, path) {
  const target = join(DIST, path)
  mkdirSync(dirname(target), { recursive: true })
  if (!path.endsWith('.ts')) return cpSync(source, target)
  const code = stripTypeScriptTypes(readFileSync(source, 'utf8')).replaceAll(QUOTED_NAME, (name) => {
    const entry = ENTRIES.get(name)
    return entry === undefined ? name : `'${relative(dirname(path), entry)}'`
  })
  writeFileSync(target.replace(/\.ts$/, '.js'), code.replaceAll(TYPESCRIPT_PATH, "'$1.js'"))
}

/** Does nothing if the console is built from its current sources. */
function buildConsole() {
  const stdio = ['ignore', 'inherit', 'inherit']
  const { status } = spawnSync(process.execPath, [join(CONSOLE, 'build.mjs'), '--if-changed'], { stdio })
  if (status !== 0) process.exit(1)
}
