// Installs the packages of package-lock.json. Plain JavaScript without dependencies, because it
// runs before they are installed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { ROOT } from './supervise.mjs'

const PROGRESS_MS = 10_000
const NPM_CI = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional']
const HINT = 'Check the network, the npm registry and the free disk space, then run the same command again.'

/**
 * Installs missing packages. Concurrent launches of one clone wait for each other, so only the
 * first installs.
 */
export async function installIfNeeded() {
  if (isInstalled()) return
  const release = await takeInstallLock()
  try {
    if (!isInstalled()) await install()
  } finally {
    release()
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

async function install() {
  console.error('Installing the packages of package-lock.json into node_modules (once, 760 MB, a minute or two) …')
  const startedAt = performance.now()
  const elapsed = () => `${Math.round((performance.now() - startedAt) / 1000)} s`
  const progress = setInterval(() => console.error(`  still installing, ${elapsed()}`), PROGRESS_MS)
  const { code, output } = await runNpm(NPM_CI, 'pipe').finally(() => clearInterval(progress))
  if (code !== 0) throw new Error(`${output}\nThe installation failed; see the output of npm above. ${HINT}`)
  if (!isInstalled()) throw new Error(`${output}\nnpm did not install all packages that this machine needs. ${HINT}`)
  console.error(`Installed in ${elapsed()}.`)
}

/**
 * Runs npm in the root directory. Does not use the Node in node_modules, which npm scripts put
 * first, because npm is about to replace it.
 */
export function runNpm(args, stdio) {
  const path = process.env.PATH.split(delimiter).filter((entry) => !entry.startsWith(join(ROOT, 'node_modules')))
  const env = { ...process.env, PATH: path.join(delimiter) }
  const child = spawn('npm', args, { cwd: ROOT, env, stdio: ['ignore', stdio, stdio] })
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
