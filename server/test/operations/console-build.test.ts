import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, test } from 'node:test'

const ROOT = new URL('../../..', import.meta.url).pathname

let clone: string
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'shiplock-clone-'))
  for (const path of ['server/bin', 'console/build', 'console/build.mjs', 'release/bundled-packages.mjs'])
    cpSync(ROOT + path, join(clone, path), { recursive: true })
})
afterEach(() => rmSync(clone, { recursive: true, force: true }))

function put(path: string, contents: string): void {
  mkdirSync(join(clone, path, '..'), { recursive: true })
  writeFileSync(join(clone, path), contents)
}

function run(args: string[], env: Record<string, string> = {}): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(
    process.execPath,
    args.map((argument) => (argument.endsWith('.mjs') ? join(clone, argument) : argument)),
    {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  const stderr = child.stderr ? text(child.stderr) : Promise.resolve('')
  const [code] = await once(child, 'exit')
  return { code, stderr: await stderr }
}

describe('the launcher', () => {
  /** Programs that write their process ids, in place of the server and of the build. */
  beforeEach(() => {
    put('server/src/main.ts', `process.stdout.write('server ' + process.pid + '\\n'); setInterval(() => {}, 1000)\n`)
    put(
      'console/build.mjs',
      `import { writeFileSync } from 'node:fs'
       writeFileSync(import.meta.dirname + '/pid', process.pid + ' ' + process.argv.slice(2))
       process.stderr.write('building\\n')
       setInterval(() => {}, 1000)`,
    )
  })

  const until = async (child: ChildProcess, stream: 'stdout' | 'stderr', sentence: string) => {
    let seen = ''
    for await (const chunk of child[stream] ?? []) {
      seen += chunk
      if (seen.includes(sentence)) return seen
    }
    throw new Error(`ended after: ${seen}`)
  }
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`builds the console beside the server, and ${signal} ends both`, async () => {
      const launcher = run(['server/bin/shiplock-server.mjs', 'start'])
      await Promise.all([until(launcher, 'stdout', 'server'), until(launcher, 'stderr', 'building')])
      const [pid, argument] = readFileSync(join(clone, 'console/pid'), 'utf8').split(' ')
      assert.equal(argument, '--beside')
      launcher.kill(signal)
      await once(launcher, 'exit')
      while (isAlive(Number(pid))) await new Promise(setImmediate)
    })
  }

  test('a launcher that is killed takes the build with it', async () => {
    const launcher = run(['server/bin/shiplock-server.mjs', 'server'])
    await until(launcher, 'stderr', 'building')
    launcher.kill('SIGKILL')
    await once(launcher, 'exit')
    const pid = Number(readFileSync(join(clone, 'console/pid'), 'utf8').split(' ')[0])
    while (isAlive(pid)) await new Promise(setImmediate)
  })

  const WITHOUT: [what: string, args: string[], env: Record<string, string>][] = [
    ['SHIPLOCK_CONSOLE=off', ['start'], { SHIPLOCK_CONSOLE: 'off' }],
    ['another console', ['start'], { SHIPLOCK_CONSOLE: '/srv/console' }],
    ['a command that serves nothing', ['doctor'], {}],
    ['the help of start', ['start', '--help'], {}],
  ]
  for (const [what, args, env] of WITHOUT) {
    test(`builds nothing for ${what}`, async () => {
      put('server/src/main.ts', '')
      assert.equal((await ended(run(['server/bin/shiplock-server.mjs', ...args], env))).code, 0)
      assert.ok(!existsSync(join(clone, 'console/pid')))
    })
  }

  test('starts without the sources of the console', async () => {
    rmSync(join(clone, 'console'), { recursive: true })
    put('server/src/main.ts', '')
    assert.deepEqual(await ended(run(['server/bin/shiplock-server.mjs', 'start'])), { code: 0, stderr: '' })
  })
})

describe('the build', () => {
  const dist = () => join(clone, 'console/dist')
  const build = () => ended(run(['console/build.mjs', '--beside']))
  const left = () => readdirSync(join(clone, 'console')).filter((name) => name.startsWith('.build-'))

  /** Takes the place of Vite: it writes what the sources contain. */
  beforeEach(() => {
    put(
      'node_modules/vite/index.mjs',
      `import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
       export async function build({ root, build: { outDir } }) {
         const source = readFileSync(root + '/src/main.ts', 'utf8')
         if (source.includes('broken')) throw new Error('main.ts: Unexpected token\\n  1 | broken')
         mkdirSync(outDir + '/assets')
         writeFileSync(outDir + '/assets/main-1.js', source)
         writeFileSync(outDir + '/index.html', '<title>Shiplock</title>')
         return { output: [{ moduleIds: [root + '/src/main.ts'] }] }
       }`,
    )
    put('node_modules/vite/package.json', '{ "type": "module", "exports": "./index.mjs" }')
    put('console/src/main.ts', `export const text = '${'a'.repeat(3000)}'`)
    put('console/package.json', '{}')
    put('app-openapi.json', '{}')
    put('package-lock.json', '{}')
  })

  test('writes dist with compressed files, and nothing the next time', async () => {
    const { code, stderr } = await build()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^Building the console …\nThe console is built, in \d+ s\.\n$/)
    const names = ['main-1.js', 'main-1.js.br', 'main-1.js.gz']
    assert.deepEqual(readdirSync(join(dist(), 'assets')).sort(), names)
    assert.deepEqual(left(), [])
    assert.deepEqual(await build(), { code: 0, stderr: '' })
  })

  for (const path of ['console/src/main.ts', 'console/index.html', 'app-openapi.json', 'package-lock.json']) {
    test(`builds again after a change of ${path}`, async () => {
      await build()
      put(path, '{ "changed": true }')
      assert.match((await build()).stderr, /The console is built/)
    })
  }

  test('tests, generated types and documents are no sources', async () => {
    await build()
    for (const path of [
      'src/main.test.ts',
      'src/api/schema.ts',
      'README.md',
      'test/x.test.ts',
      'node_modules/x/index.js',
    ])
      put(`console/${path}`, 'changed')
    assert.deepEqual(await build(), { code: 0, stderr: '' })
  })

  test('a failure is one line, and the console of the build before stays', async () => {
    await build()
    put('console/src/main.ts', 'broken')
    const { code, stderr } = await build()
    assert.equal(code, 1)
    const lines = stderr.trim().split('\n')
    assert.equal(lines.length, 2)
    assert.match(
      lines[1] ?? '',
      /could not be built; the API is not affected.*npm run build.*: main\.ts: Unexpected token$/,
    )
    assert.ok(existsSync(join(dist(), 'index.html')))
    assert.deepEqual(left(), [])
  })

  test('builds at the same time leave one complete console', async () => {
    const results = await Promise.all([1, 2, 3, 4].map(() => build()))
    for (const { code, stderr } of results) assert.equal(code, 0, stderr)
    assert.ok(existsSync(join(dist(), 'index.html')))
    assert.deepEqual(readdirSync(join(dist(), 'assets')).length, 3)
    assert.deepEqual(left(), [])
  })

  test('removes what a killed build has left', async () => {
    const { pid } = spawn(process.execPath, ['--version'])
    put(`console/.build-${pid}/index.html`, 'half')
    while (existsSync(`/proc/${pid}`)) await new Promise(setImmediate)
    await build()
    assert.deepEqual(left(), [])
  })
})
