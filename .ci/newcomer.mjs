// Walks the newcomer's path: a fresh clone, `npm start`, the console, the shell lines of the tutorials
// as they are written there, Ctrl-C.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const START_TIMEOUT_MS = 300_000
const POLL_MS = 500
/** The pages with shell lines, and what their output contains. */
const TUTORIALS = {
  'README.md': ['run_', '20 findings', 'loader/loader.go:162'],
  'docs/api.md': ['"external_run_id":"shop/1"', '"status":"pending"', '"status":"queued"', '"cwes":["CWE-22"]'],
}
const clone = mkdtempSync(join(tmpdir(), 'shiplock-newcomer-'))

execFileSync('git', ['clone', '--quiet', process.cwd(), clone])
const port = await freePort()
const server = spawn('npm', ['start'], {
  cwd: clone,
  detached: true,
  env: { ...process.env, SHIPLOCK_PORT: String(port) },
})
try {
  const key = await keyOf(server)
  await untilConsoleIsServed()
  console.log('the console is built beside the server, and served')
  for (const [page, expected] of Object.entries(TUTORIALS)) {
    const output = runPage(page, key)
    const missing = expected.filter((text) => !output.includes(text))
    if (missing.length > 0)
      throw new Error(`the output of the commands in ${page} does not contain ${missing.join(', ')}:\n${output}`)
    console.log(`the commands in ${page} work as described`)
  }
} finally {
  await stop()
  rmSync(clone, { recursive: true, force: true })
}

/** The pages name the default port; another may be taken on this machine. */
function runPage(page, key) {
  const text = readFileSync(join(clone, page), 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1])
  const script = blocks.join('\n').replaceAll('127.0.0.1:8420', `127.0.0.1:${port}`)
  return execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: clone,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, SHIPLOCK_KEY: key },
  })
}

async function keyOf(child) {
  let output = ''
  const listening = new Promise((resolve, reject) => {
    const read = (chunk) => {
      output += chunk
      if (/listening at/.test(output)) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`npm start ended:\n${output}`)))
    setTimeout(() => reject(new Error(`npm start took too long:\n${output}`)), START_TIMEOUT_MS).unref()
  })
  await listening
  if (!/\/join#token=shl_link_\w+/.test(output)) throw new Error(`npm start printed no setup link:\n${output}`)
  const key = /shl_live_[0-9A-Za-z]{46}/.exec(output)?.[0]
  if (!key) throw new Error(`npm start printed no key:\n${output}`)
  return key
}

/** The setup link is a page of the console, which is built while the server runs already. */
async function untilConsoleIsServed() {
  const deadline = performance.now() + START_TIMEOUT_MS
  const headers = { accept: 'text/html' }
  for (;;) {
    const page = await (await fetch(`http://127.0.0.1:${port}/join`, { headers })).text()
    const [script] = /\/assets\/[^"]+\.js/.exec(page) ?? []
    if (script && (await fetch(`http://127.0.0.1:${port}${script}`)).ok) return
    if (performance.now() > deadline) throw new Error(`the console was not built:\n${page}`)
    await delay(POLL_MS)
  }
}

/** Ctrl-C reaches the whole process group; afterwards nothing of it may be left. */
async function stop() {
  if (server.exitCode === null) {
    process.kill(-server.pid, 'SIGINT')
    await once(server, 'exit')
  }
  const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(clone))
  if (left.length > 0) throw new Error(`still running after Ctrl-C:\n${left.join('\n')}`)
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  return port
}
