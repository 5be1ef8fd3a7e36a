// npm run build --workspace server [-- DIRECTORY]: writes what the published package runs into
// server/dist, or into the directory: JavaScript, migrations and the console. Node.js strips types
// only outside of node_modules, so the package contains no TypeScript. `npm pack` calls it.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

const SERVER = import.meta.dirname
const CONSOLE = join(SERVER, '../console')
const DIST = process.argv[2] ?? join(SERVER, 'dist')
/** Paths of other files of the server: imports, threads and processes. */
const TYPESCRIPT_PATH = /'(\.{1,2}\/[^'\n]+)\.ts'/g

rmSync(DIST, { recursive: true, force: true })
for (const path of globSync('src/**/*.{ts,json}', { cwd: SERVER, exclude: ['**/*.test.ts'] })) publish(path)
cpSync(join(SERVER, 'migrations'), join(DIST, 'migrations'), { recursive: true })
for (const file of ['schema.sql', 'package.json']) cpSync(join(SERVER, file), join(DIST, file))
buildConsole()
cpSync(join(CONSOLE, 'dist'), join(DIST, 'console'), { recursive: true })

/** Types become white space, so that lines and columns in stack traces are those of the source. */
function publish(path) {
  const target = join(DIST, path)
  mkdirSync(dirname(target), { recursive: true })
  if (!path.endsWith('.ts')) return cpSync(join(SERVER, path), target)
  const code = stripTypeScriptTypes(readFileSync(join(SERVER, path), 'utf8'))
  writeFileSync(target.replace(/\.ts$/, '.js'), code.replaceAll(TYPESCRIPT_PATH, "'$1.js'"))
}

/** Does nothing if the console is built from its current sources. */
function buildConsole() {
  const stdio = ['ignore', 'inherit', 'inherit']
  const { status } = spawnSync(process.execPath, [join(CONSOLE, 'build.mjs'), '--if-changed'], { stdio })
  if (status !== 0) process.exit(1)
}
