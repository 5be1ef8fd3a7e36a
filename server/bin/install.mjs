// Installs the packages of package-lock.json. Plain JavaScript without dependencies, because it
// runs before they are installed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { makeStage } from './staged-install.mjs'
import { hasNewNode, ROOT } from './supervise.mjs'

const PROGRESS_MS = 10_000
const NPM_CI = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional']
const RUN_TEXT = 'what it takes to run, 200 MB,'
const RUN_WITH_NODE_TEXT = 'what it takes to run, 390 MB with Node.js 24, which this machine lacks,'
const ALL_TEXT = 'the packages of developers, 780 MB, a minute or two'
const HINT = 'Check the network, the npm registry and the free disk space, then run the same command again.'

/** What runs from a clone without the packages of developers: the server and the command line. */
const TO_RUN = [
  ...['server', 'cli', 'sdk'],
  ...['packages/command-line', 'packages/network', 'packages/report-readers', 'packages/verify'],
]
/** In node_modules: what a part of the packages was installed from. */
const NOTE = join(ROOT, 'node_modules/.installed-from')

/**
 * Installs missing packages: those that it takes to run the server, or with `all` those of
 * developers, too. Concurrent launches of one clone wait for each other, so only the first installs.
 */
export async function installIfNeeded({ all }) {
  const isComplete = () => isInstalled() || (!all && isInstalledToRun())
  if (isComplete()) return
  const release = await takeInstallLock()
  try {
    if (isComplete()) return
    if (all || isForDevelopers()) await install(ALL_TEXT, NPM_CI, ROOT)
    else await installToRun()
  } finally {
    release()
  }
  if (!isComplete()) throw new Error(`npm did not install all packages that this machine needs. ${HINT}`)
}

/** Who has developed here before does so again. */
function isForDevelopers() {
  return existsSync(join(ROOT, 'node_modules/@biomejs'))
}

function isInstalledToRun() {
  return existsSync(NOTE) && readFileSync(NOTE, 'utf8') === wantedToRun()
}

function wantedToRun() {
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  return `${lock} ${hasNewNode() ? 'without' : 'with'} Node.js\n`
}

/** The packages are moved to where they belong once all are there. */
async function installToRun() {
  const { stage, args } = makeStage(TO_RUN)
  try {
    await install(hasNewNode() ? RUN_TEXT : RUN_WITH_NODE_TEXT, args, stage)
    rmSync(join(ROOT, 'node_modules'), { recursive: true, force: true })
    renameSync(join(stage, 'node_modules'), join(ROOT, 'node_modules'))
    writeFileSync(NOTE, wantedToRun())
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** Compares what npm recorded at its last installation with package-lock.json. */
function isInstalled() {
  const wanted = readPackages('package-lock.json')
  const installed = readPackages('node_modules/.package-lock.json')
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true // the repository itself and its workspaces
    return installed[path] ? isSame(entry, installed[path]) : isForAnotherPlatform(entry)
  })
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages
  } catch (error) {
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error
    return {}
  }
}

function isSame(wanted, installed) {
  return wanted.version === installed.version && wanted.integrity === installed.integrity
}

/**
 * Optional packages contain the binaries of one platform each. npm skips those of other platforms,
 * and what only they depend on, which names no platform itself.
 */
function isForAnotherPlatform({ optional, os, cpu, libc }) {
  const names = (platforms, own) => platforms === undefined || [platforms].flat().includes(own)
  const isOurs = names(os, process.platform) && names(cpu, process.arch) && (os ?? cpu) !== undefined
  return optional && (!isOurs || libc !== undefined)
}

async function install(what, args, directory) {
  console.error(`Installing ${what} (once) …`)
  const startedAt = performance.now()
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`
  const progress = setInterval(() => console.error(`  still installing, ${elapsed()}`), PROGRESS_MS)
  const { code, output } = await runNpm(args, 'pipe', directory).finally(() => clearInterval(progress))
  if (code !== 0) throw new Error(`${output}\nThe installation failed; see the output of npm above. ${HINT}`)
  console.error(`Installed in ${elapsed()}.`)
}

/**
 * Runs npm, in the root directory unless another is named. Does not use the Node in node_modules, which npm scripts put
 * first, because npm is about to replace it.
 */
export function runNpm(args, stdio, directory = ROOT) {
  const path = process.env.PATH.split(delimiter).filter((entry) => !entry.startsWith(join(ROOT, 'node_modules')))
  const env = { ...process.env, PATH: path.join(delimiter) }
  const child = spawn('npm', args, { cwd: directory, env, stdio: ['ignore', stdio, stdio] })
  const stop = (signal) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`npm cannot be run: ${error.message}`)))
    child.on('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, stop)
      resolve({ code: code ?? 1, output: output.trim() })
    })
  })
}

/**
 * Uses a listening socket as the lock, because the system releases it when the process ends. On
 * Linux it leaves no file.
 */
async function takeInstallLock() {
  const name = `shiplock-install-${createHash('sha256').update(realpathSync(ROOT)).digest('hex').slice(0, 16)}`
  const address = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), name)
  for (let told = false; ; told = true) {
    const release = await tryToListen(address)
    if (release) return release
    if (!told) console.error('Another process is installing the packages; waiting for it …')
    await untilHolderIsGone(address)
  }
}

function tryToListen(address) {
  const waiting = new Set()
  const server = createServer((socket) => waiting.add(socket.on('error', () => {})))
  const release = () => {
    server.close()
    for (const socket of waiting) socket.destroy()
  }
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(address, () => resolve(release))
  })
}

function untilHolderIsGone(address) {
  return new Promise((resolve) => {
    const socket = connect(address, () => socket.resume())
    socket.on('error', (error) => {
      if (error.code === 'ECONNREFUSED' && !address.startsWith('\0')) rmSync(address, { force: true })
    })
    socket.on('close', resolve)
  })
}
