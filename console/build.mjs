// Builds the console into dist/: `npm run build --workspace console`. With `--if-changed`: only if dist
// is missing or older than the sources. With `--beside`, as the launcher calls it while the server
// starts: likewise, with little of the processor, and with one line about a failure.
import { setPriority } from 'node:os'
import { stripVTControlCharacters } from 'node:util'
import { notePackages } from '../release/bundled-packages.mjs'
import { compress } from './build/compress.mjs'
import { showProgress } from './build/progress.mjs'
import { publish, temporaryDirectory } from './build/publish.mjs'
import { builtFrom, hashSources, noteSources } from './build/sources.mjs'
import { buildStaged, hasPackages } from './build/staged-build.mjs'

const LOWEST_PRIORITY = 19
const isBeside = process.argv.includes('--beside')
const isIfChanged = isBeside || process.argv.includes('--if-changed')

if (isBeside) setPriority(LOWEST_PRIORITY)
const sources = hashSources()
if (!isIfChanged || builtFrom() !== sources) await buildWithProgress()

async function buildWithProgress() {
  const progress = showProgress('Building the console')
  try {
    await (hasPackages() ? build() : buildStaged(sources))
    progress.end((elapsed) => `The console is built, in ${elapsed}.`)
  } catch (error) {
    progress.end(() => (isBeside ? oneLine(error) : `The console could not be built: ${error.message}`))
    process.exitCode = 1
  }
}

async function build() {
  process.env.NODE_ENV = 'production'
  const vite = await import('vite')
  const directory = temporaryDirectory()
  const { output } = await vite.build({
    root: import.meta.dirname,
    mode: 'production',
    logLevel: isBeside ? 'silent' : 'warn',
    build: { outDir: directory, emptyOutDir: true, reportCompressedSize: false },
  })
  // Modules of packages can begin with a zero byte and end with a query.
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds.map((id) => id.replace(/^\0|\?.*$/g, '')))
  notePackages(directory, modules)
  await compress(directory)
  noteSources(directory, sources)
  publish(directory)
}

function oneLine({ message }) {
  const [reason] = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
  return `The console could not be built; the API is not affected. See "npm run build --workspace console": ${reason}`
}
