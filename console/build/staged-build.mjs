// Builds the console where its packages are not installed, as after `npm start` in a new clone: in a
// directory of its own, which is deleted with the packages afterwards.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { runNpm } from '../../server/bin/install.mjs'
import { makeStage } from '../../server/bin/staged-install.mjs'
import { ROOT } from '../../server/bin/supervise.mjs'
import { publish } from './publish.mjs'
import { noteSources } from './sources.mjs'

/** What a build reads beside its packages. The configuration of TypeScript refers to its neighbours. */
const TSCONFIGS = ['tsconfig.base.json', 'sdk/tsconfig.json', 'packages/verify/tsconfig.json', 'server/tsconfig.json']
const NEEDED = [
  'console',
  'sdk/src',
  'packages/verify/src',
  'release',
  'docs/policies',
  'app-openapi.json',
  ...TSCONFIGS,
]
const LEFT_OUT = /^console\/(?:node_modules|dist|test|\.build-[^/]*)$/
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

export function hasPackages() {
  try {
    return Boolean(import.meta.resolve('vite'))
  } catch {
    return false
  }
}

/** Installs the packages of the console (200 MB), builds it, and puts the build into its place. */
export async function buildStaged(sources) {
  const { stage, args } = makeStage(['console', 'sdk', 'packages/verify'])
  process.on('exit', () => rmSync(stage, { recursive: true, force: true }))
  for (const signal of SIGNALS) process.once(signal, () => process.exit(1))
  const { code, output } = await runNpm(args, 'pipe', stage)
  if (code !== 0) throw new Error(`its packages could not be installed: ${output}`)
  for (const path of NEEDED) copy(path, stage)
  await runBuild(stage)
  const dist = join(stage, 'console/dist')
  noteSources(dist, sources)
  publish(dist)
}

function copy(path, stage) {
  const filter = (source) => !LEFT_OUT.test(relative(ROOT, source))
  cpSync(join(ROOT, path), join(stage, path), { recursive: true, filter })
}

async function runBuild(stage) {
  const child = spawn(process.execPath, [join(stage, 'console/build.mjs')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const stop = () => child.kill('SIGTERM')
  process.on('exit', stop)
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(child, 'exit')
  process.off('exit', stop)
  if (code !== 0) throw new Error(output.trim())
}
