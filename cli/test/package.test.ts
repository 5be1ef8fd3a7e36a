import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { before, test } from 'node:test'
import { changeStatement, makeKey, signStatement } from '../../packages/verify/test/support/statements.ts'
import { ended, environment, shiplock, startShiplock, temporaryDirectory } from './support/program.ts'
import { startServer } from './support/server.ts'

const CLI = new URL('..', import.meta.url).pathname
const built = temporaryDirectory()
const installed = temporaryDirectory()
const PROGRAM = join(installed, 'node_modules/shiplock/shiplock.mjs')
const SOURCE = ['--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]
const { env } = await startServer()

/** This Node, and an older one if there is one. */
const NODES = [process.execPath, ...olderNodes()]

function olderNodes(): string[] {
  const nodes = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'))
  return nodes
    .filter((node) => /^v2[0-3]\./.test(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? ''))
    .slice(0, 1)
}

before(() => {
  execFileSync(process.execPath, [join(CLI, 'build.mjs'), built], { stdio: 'inherit' })
  execFileSync('npm', ['pack', '--silent', '--pack-destination', installed], { cwd: built })
  writeFileSync(join(installed, 'package.json'), '{}')
  const [tarball = ''] = globSync('*.tgz', { cwd: installed })
  execFileSync('npm', ['install', '--silent', '--offline', '--ignore-scripts', '--no-audit', `./${tarball}`], {
    cwd: installed,
  })
})

test('the package has no dependencies and brings the command shiplock', () => {
  assert.deepEqual(
    readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['shiplock'],
  )
  assert.deepEqual(readdirSync(join(installed, 'node_modules/.bin')), ['shiplock'])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'node_modules/shiplock/package.json'), 'utf8'))
  assert.equal(dependencies, undefined)
})

for (const node of NODES) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()

  const run = (...args: string[]) => shiplock(args, { node, bin: PROGRAM, cwd: installed, env })

  test(`installed, on Node ${version}: --version, --help, and the help of every command`, async () => {
    const own = JSON.parse(readFileSync(join(CLI, 'package.json'), 'utf8'))
    assert.equal((await run('--version')).stdout, `${own.version}\n`)
    const { stdout } = await run('--help')
    const names = [...stdout.matchAll(/^ {2}(\S+(?: \S+)?) {2,}\S/gm)].map(([, name]) => name ?? '')
    assert.ok(names.includes('run start') && names.includes('verify'), stdout)
    for (const name of names) {
      const help = await run(...name.split(' '), '--help')
      assert.equal(help.code, 0, help.stderr)
      assert.match(help.stdout, new RegExp(`^usage: shiplock ${name}[ \\[][^]*\\n\\nexamples:\\n {2}.*shiplock`))
    }
  })

  test(`installed, on Node ${version}: verify needs no server`, async () => {
    const key = makeKey()
    writeFileSync(join(installed, 'key.pem'), key.pem)
    writeFileSync(join(installed, 'statement.json'), JSON.stringify(signStatement(key, changeStatement())))
    const { code, stdout, stderr } = await run('verify', 'statement.json', '--key', 'key.pem')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /\nVerified\.\n$/)
  })

  test(`installed, on Node ${version}: run exec and upload on a real server`, async () => {
    const exec = await run('run', 'exec', ...SOURCE, '--', 'echo', 'hello')
    assert.equal(exec.code, 0, exec.stderr)
    assert.equal(exec.stdout, 'hello\n')
    assert.match(exec.stderr, /The run has ended: success/)
    writeFileSync(join(installed, 'x.sarif'), JSON.stringify({ version: '2.1.0', runs: [], comment: version }))
    const upload = await run('upload', 'x.sarif', '--repository', 'acme/shop', '--no-wait')
    assert.equal(upload.code, 0, upload.stderr)
    assert.equal(upload.stdout, 'x.sarif: queued\n')
    const job = await shiplock(['run', 'start', '--json'], { node, bin: PROGRAM, env: { ...env, ...JENKINS } })
    assert.equal(job.json?.ci_system, 'jenkins', job.stderr)
  })
}

for (const node of olderNodes()) {
  test('a clone on an older Node: the program runs on the Node of the clone, and signals reach it', async () => {
    const args = [
      'run',
      'exec',
      ...SOURCE,
      '--',
      'sh',
      '-c',
      "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done",
    ]
    const child = startShiplock(args, { node, env })
    const end = ended(child)
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGTERM')
    const { code, stderr } = await end
    assert.equal(code, 5, stderr)
    assert.match(stderr, /The run has ended: cancelled/)
  })
}

const JENKINS = {
  JENKINS_URL: 'https://ci.example.com/',
  BUILD_NUMBER: '7',
  JOB_NAME: 'shop',
  GIT_COMMIT: 'b'.repeat(40),
  GIT_URL: 'https://github.com/acme/shop.git',
}

const ROUNDS = 15
const RATIO_MAX = 3

/** Rounds alternate, so that other work on the machine slows both down alike. */
for (const [what, program] of [
  ['the package', () => PROGRAM],
  ['the clone', () => join(CLI, 'bin/shiplock.mjs')],
] as const) {
  test(`--version of ${what} takes at most ${RATIO_MAX} times as long as an empty program`, () => {
    const [empty, version]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round++) {
      empty.push(elapsed('-e', '0'))
      version.push(elapsed(program(), '--version'))
    }
    const ratio = Math.min(...version) / Math.min(...empty)
    assert.ok(ratio <= RATIO_MAX, `${ratio.toFixed(2)} times`)
  })
}

function elapsed(...args: string[]): number {
  const start = performance.now()
  const { status } = spawnSync(process.execPath, args, { env: environment({}) })
  assert.equal(status, 0)
  return performance.now() - start
}
