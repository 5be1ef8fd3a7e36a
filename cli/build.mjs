// npm run build --workspace cli [-- DIRECTORY]: writes the package that is published to cli/dist, or
// to the directory: JavaScript for Node 20 and later, without dependencies.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { notePackages } from '../release/bundled-packages.mjs'

const CLI = fileURLToPath(new URL('.', import.meta.url))
const DIST = process.argv[2] ?? `${CLI}dist`
const { version, description, license, engines } = JSON.parse(readFileSync(`${CLI}package.json`, 'utf8'))

/** CommonJS packages inside of the bundle load the modules of Node with `require`. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

rmSync(DIST, { recursive: true, force: true })
mkdirSync(DIST, { recursive: true })
const { metafile } = await build({
  entryPoints: { main: `${CLI}src/main.ts` },
  outdir: DIST,
  bundle: true,
  // Each command is a file of its own, which is read when the command is called.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  banner: { js: REQUIRE },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'eof',
  // Only a proxy that is asked for Kerberos would need it.
  external: ['kerberos'],
  logLevel: 'warning',
  metafile: true,
})
const contained = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
notePackages(
  DIST,
  contained.map((path) => resolve(path)),
)

/** The version is printed without loading the program. */
const entry = `#!/usr/bin/env node
if (process.argv[2] === '--version') console.log('${version}')
else await import('./main.mjs')
`
writeFileSync(`${DIST}/shiplock.mjs`, entry, { mode: 0o755 })
const published = {
  name: 'shiplock',
  version,
  description,
  license,
  type: 'module',
  engines,
  bin: { shiplock: 'shiplock.mjs' },
}
writeFileSync(`${DIST}/package.json`, `${JSON.stringify(published, null, 2)}\n`)
cpSync(`${CLI}../LICENSE`, `${DIST}/LICENSE`)
cpSync(`${CLI}README.md`, `${DIST}/README.md`)
