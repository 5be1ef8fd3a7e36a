import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { foreignEnvironment, installPackages } from '../support/installed-packages.ts'

const { directory, tarballs, remove } = installPackages()
after(remove)

const npx = (args: string[], env: Record<string, string> = {}) =>
  execFileSync('npx', ['--offline', ...args], { cwd: directory, env: foreignEnvironment(env), encoding: 'utf8' })

test('the packages contain JavaScript, the migrations and the console, and no tests', () => {
  const [server = '', cli = ''] = tarballs
  const files = listFiles(server)
  for (const path of ['bin/shiplock-server.mjs', 'dist/src/main.js', 'dist/schema.sql', 'dist/console/index.html'])
    assert.ok(files.includes(`package/${path}`), path)
  for (const path of ['README.md', 'LICENSE']) assert.ok(files.includes(`package/${path}`), path)
  assert.ok(files.includes('package/dist/migrations/0001_baseline.sql'))
  assert.ok(files.some((path) => /^package\/dist\/console\/assets\/.+\.js\.br$/.test(path)))
  assert.deepEqual(
    [...files, ...listFiles(cli)].filter((path) => /\.tsx?$|\.test\.|fixtures/.test(path)),
    [],
  )
})

function listFiles(tarball: string): string[] {
  return execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
}

test('npx @shiplock/server start serves the API and the console, and the command line reaches it', async () => {
  const env = foreignEnvironment({ SHIPLOCK_PORT: '0', SHIPLOCK_LOG_LEVEL: 'warn', npm_config_offline: 'true' })
  const child = spawn('npx', ['@shiplock/server', 'start', '--json'], { cwd: directory, env, stdio: 'pipe' })
  const stderr = text(child.stderr)
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => [null])])
  try {
    assert.ok(line, line === null ? await stderr : '')
    const { url, key } = JSON.parse(line)
    await checkServer(url)
    checkCommandLine(url, key.key ?? key)
  } finally {
    child.kill('SIGTERM')
  }
  // npx itself ends at the signal. The stream ends with the last process of the server.
  assert.match(await stderr, /^Stopping: finishing/m)
  await assert.rejects(fetch(JSON.parse(line).url))
})

async function checkServer(url: string): Promise<void> {
  for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(url + path)).status, 200, path)
  const page = await (await fetch(url)).text()
  const script = /<script[^>]+src="([^"]+)"/.exec(page)?.[1]
  assert.ok(script, page)
  assert.equal((await fetch(new URL(script, url))).status, 200)
  const { port } = new URL(url)
  assert.match(npx(['shiplock-server', 'health', '--ready', '--port', port]), /\/readyz answered 200/)
}

function checkCommandLine(url: string, key: string): void {
  const source = ['--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]
  const run = ['run', 'start', '--ci-system', 'my-ci', '--external-run-id', '1', '--pipeline', 'build']
  const env = { SHIPLOCK_URL: url, SHIPLOCK_KEY: key }
  assert.equal(JSON.parse(npx(['shiplock', ...run, ...source, '--json'], env)).ci_system, 'my-ci')
}
