// Writes the published form of the SDK into sdk/dist, a complete package: ES modules, types and
// package.json. Run it with `npm run build --workspace sdk`, which generates src/openapi.ts first.
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const SDK = fileURLToPath(new URL('.', import.meta.url))
const DIST = `${SDK}dist`
const own = JSON.parse(readFileSync(`${SDK}package.json`, 'utf8'))

rmSync(DIST, { recursive: true, force: true })
await bundle()
writeTypes()
writeFileSync(`${DIST}/package.json`, `${JSON.stringify(publishedPackage(), null, 2)}\n`)
cpSync(`${SDK}README.md`, `${DIST}/README.md`)
cpSync(`${SDK}../LICENSE`, `${DIST}/LICENSE`)

/**
 * Once for Node.js, whose requests know proxies, and once for every other platform. Both entries share
 * their classes, so that `instanceof` works across them.
 */
async function bundle() {
  for (const [directory, conditions] of [
    [DIST, []],
    [`${DIST}/for-node`, ['node']],
  ]) {
    await build({
      entryPoints: [`${SDK}src/index.ts`, `${SDK}src/node.ts`],
      outdir: directory,
      bundle: true,
      splitting: true,
      chunkNames: 'shared-[hash]',
      format: 'esm',
      platform: 'neutral',
      conditions,
      target: 'es2022',
      external: [...Object.keys(own.dependencies), 'node:*'],
    })
  }
}

/** Consumers without `allowImportingTsExtensions` resolve `.js` to the declarations. */
function writeTypes() {
  execFileSync(`${SDK}../node_modules/.bin/tsc`, ['-p', `${SDK}tsconfig.types.json`], { stdio: 'inherit' })
  for (const path of readdirSync(`${DIST}/types`, { recursive: true }).filter((path) => path.endsWith('.d.ts'))) {
    const text = readFileSync(`${DIST}/types/${path}`, 'utf8')
    writeFileSync(`${DIST}/types/${path}`, text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
  }
}

function publishedPackage() {
  const { name, version, description, license, type, engines, dependencies } = own
  const entry = (file) => {
    const others = { deno: `./${file}.js`, bun: `./${file}.js` }
    return { types: `./types/${file}.d.ts`, ...others, node: `./for-node/${file}.js`, default: `./${file}.js` }
  }
  const exports = { '.': entry('index'), './node': entry('node'), './package.json': './package.json' }
  return { name, version, description, license, type, sideEffects: false, engines, exports, dependencies }
}
