import assert from 'node:assert/strict'
import { copyFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startWorkerProcess } from '../../server/test/support/workers.ts'
import { makeGitRepository } from './support/git-repository.ts'
import { ended, shiplock, startShiplock, temporaryDirectory } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'
import { startServer } from './support/server.ts'

// The worker has the time of the machine. Later than the API's, it would expire pending uploads.
const { api, caller, env } = await startServer({ start: new Date().toISOString() })
const worker = startWorkerProcess(api)
after(() => worker.end('SIGTERM'))

const FIXTURES = new URL('../../server/test/fixtures/', import.meta.url).pathname
const SARIF = join(FIXTURES, 'sarif/trivy.sarif')
const directory = temporaryDirectory()
const REPOSITORY = ['--repository', 'acme/shop', '--commit', 'a'.repeat(40), '--ref', 'main']

function file(name: string, content: string | object): string {
  const path = join(directory, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('0: a report is read to the end, and its counts are printed', async () => {
  const { code, stdout, stderr } = await shiplock(['upload', SARIF, ...REPOSITORY], { env })
  assert.equal(code, 0, stderr)
  assert.match(
    stdout,
    /^trivy\.sarif: \d+ findings; \d+ new, 0 changed, 0 fixed; open: \d+ critical, \d+ high, \d+ medium, \d+ low\n$/,
  )
  assert.match(stderr, /trivy\.sarif: [\d.]+ KiB sent\n/)
})

test('0: the same file again is not sent, and counts nothing new', async () => {
  const { code, json, stderr } = await shiplock(['upload', SARIF, ...REPOSITORY, '--json'], { env })
  assert.equal(code, 0, stderr)
  assert.equal(json.status, 'finished')
  assert.ok(json.counts.findings > 0)
  assert.match(stderr, /trivy\.sarif: [\d.]+ KiB stored\n/)
})

test('0: several files are a list, in the order of the arguments; --quiet says nothing', async () => {
  const files = ['gosec', 'gitleaks', 'snyk', 'scorecard', 'grype'].map((name) => join(FIXTURES, `sarif/${name}.sarif`))
  const { code, json, stderr } = await shiplock(
    ['upload', ...files, ...REPOSITORY, '--category', 'all', '--json', '--quiet'],
    { env },
  )
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  assert.deepEqual(
    json.map(({ filename }: { filename: string }) => filename),
    files.map((path) => path.split('/').at(-1)),
  )
  for (const { status, category, git_ref } of json)
    assert.deepEqual([status, category, git_ref], ['finished', 'all', 'main'])
})

test('2: an option that the API refuses is named once', async () => {
  const { code, stdout, stderr } = await shiplock(['upload', SARIF, '--repository', 'acme/shop', '--category', 'a b'], {
    env,
  })
  assert.equal(code, 2, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, /\nshiplock: --category is not valid\./)
})

test('2: --complete needs a single file', async () => {
  const { code, stdout, stderr } = await shiplock(['upload', SARIF, SARIF, ...REPOSITORY, '--complete'], { env })
  assert.equal(code, 2, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, /--complete needs a single file/)
})

test('1: an empty file, and the others are sent', async () => {
  const { code, json, stderr } = await shiplock(['upload', file('empty', ''), SARIF, ...REPOSITORY, '--json'], { env })
  assert.equal(code, 1)
  assert.match(stderr, /shiplock: \S+empty: The file is empty\.\n/)
  assert.equal(json.length, 1)
})

test('0: --no-wait exits once the file is sent', async () => {
  const { code, stdout, json, stderr } = await shiplock(
    ['upload', join(FIXTURES, 'sarif/codeql.sarif'), ...REPOSITORY, '--no-wait', '--json'],
    { env },
  )
  assert.equal(code, 0, stderr)
  assert.ok(['queued', 'parsing', 'finished'].includes(json.status), stdout)
})

test('0: repository, branch and commit are those of the CI or of git', async () => {
  const { directory: cwd, commit } = makeGitRepository('git@github.com:acme/tool.git')
  copyFileSync(SARIF, join(cwd, 'here.sarif'))
  const fromGit = await shiplock(['upload', 'here.sarif', '--json'], { env, cwd })
  assert.equal(fromGit.code, 0, fromGit.stderr)
  assert.deepEqual(sourceOf(fromGit.json), ['acme/tool', 'trunk', commit])
  for (const form of ['git@ssh.dev.azure.com:v3/acme/web/shop', 'https://acme.visualstudio.com/web/_git/shop']) {
    const fromOption = await shiplock(['upload', 'here.sarif', '--json', '--repository', form], { env, cwd })
    assert.equal(sourceOf(fromOption.json)[0], 'acme/web/shop', fromOption.stderr)
  }
  const job = {
    GITLAB_CI: 'true',
    CI_PROJECT_URL: 'https://gitlab.example.com/group/sub/shop',
    CI_COMMIT_TAG: 'v1',
    CI_COMMIT_SHA: 'b'.repeat(40),
    CI_PIPELINE_ID: '1',
  }
  const fromCi = await shiplock(['upload', SARIF, '--json'], { env: { ...env, ...job } })
  assert.deepEqual(sourceOf(fromCi.json), ['group/sub/shop', 'refs/tags/v1', 'b'.repeat(40)])
})

function sourceOf({ repository, git_ref, commit_sha }: Record<string, string>) {
  return [repository, git_ref, commit_sha]
}

test('1: a file that is no report fails with the reason of the server; the others are uploaded', async () => {
  const bad = file('trivy.json', { SchemaVersion: 2, ArtifactName: 'x', Results: [] })
  const { code, stdout, stderr } = await shiplock(['upload', bad, SARIF, ...REPOSITORY, '--category', 'bad'], { env })
  assert.equal(code, 1)
  assert.match(stderr, /\nshiplock: trivy\.json: .*Trivy.*--format sarif/)
  assert.match(stdout, /^trivy\.json: failed\ntrivy\.sarif: \d+ findings/)
})

test('1: a refused upload says why, and the others are uploaded', async () => {
  const server = await startScriptedServer(({ body }, response) => {
    if (body.includes('first'))
      return sendJson(
        response,
        429,
        { error: { code: 'rate_limited', message: 'Too many.', details: {} } },
        { 'retry-after': '3600', 'x-request-id': 'r1' },
      )
    sendJson(response, 200, {
      data: {
        upload: { filename: 'second', status: 'finished', counts: COUNTS, warnings: [], error: null },
        put: null,
      },
    })
  })
  const files = [file('first.sarif', 'a'), file('second.sarif', 'b')]
  const { code, stdout, stderr } = await shiplock(['upload', ...files, ...REPOSITORY], {
    env: { ...env, SHIPLOCK_URL: server.url },
  })
  assert.equal(code, 1)
  assert.match(stderr, /shiplock: .*first\.sarif: Too many\. \(429 rate_limited, request r1\)/)
  assert.match(stdout, /^second: 1 findings/)
})

const COUNTS = {
  findings: 1,
  created: 1,
  updated: 0,
  unchanged: 0,
  resolved: 0,
  components: 0,
  openBySeverity: { critical: 0, high: 1, medium: 0, low: 0 },
}

const WRONG: [what: string, args: string[], message: RegExp][] = [
  ['no file', ['upload', ...REPOSITORY], /Give at least one FILE/],
  ['a file that does not exist', ['upload', 'none.sarif', ...REPOSITORY], /none\.sarif cannot be read \(ENOENT\)/],
  ['a directory', ['upload', directory, ...REPOSITORY], /^shiplock: \S+ is not a file; see shiplock upload --help\n$/],
  ['no repository', ['upload', SARIF], /Give the repository with --repository/],
]

for (const [what, args, message] of WRONG) {
  test(`2: ${what}`, async () => {
    const { code, stdout, stderr } = await shiplock(args, { env })
    assert.equal(code, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.equal(stderr.trim().split('\n').length, 1)
  })
}

test('130: after Ctrl-C while a file is sent, the same command again completes the upload', async () => {
  const content = JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, results: [] }] })
  const path = file('interrupted.sarif', content)
  let interrupt = () => {}
  const server = await startScriptedServer(async ({ method, path: target, headers, body }, response) => {
    if (target.startsWith('/storage/') && method === 'PUT') return interrupt()
    const answer = await fetch(api.url + target, {
      method,
      headers: { authorization: headers.authorization ?? '', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    })
    const text = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text.replaceAll(api.url, server.url))
  })
  const args = ['upload', path, ...REPOSITORY, '--category', 'interrupted', '--json']
  const child = startShiplock(args, { env: { ...env, SHIPLOCK_URL: server.url } })
  interrupt = () => child.kill('SIGINT')
  const { code, stdout, stderr } = await ended(child)
  assert.equal(code, 130, stderr)
  assert.equal(stdout, '')
  const again = await shiplock(args, { env })
  assert.equal(again.code, 0, again.stderr)
  assert.equal(again.json.status, 'finished')
  const { body } = await api.request('GET', '/v1/security/uploads?limit=100', { key: caller.key })
  const same = body.data.filter(({ category }: { category: string }) => category === 'interrupted')
  assert.equal(same.length, 1)
})

test('a file of 300 MiB is sent with the memory that a small one takes', async () => {
  const preload = new URL('./support/print-peak-memory.mjs', import.meta.url).href
  const peakMib = async (name: string, mib: number) => {
    const path = file(name, '')
    truncateSync(path, mib * 2 ** 20)
    const args = ['upload', path, ...REPOSITORY, '--category', name, '--no-wait']
    const { code, stderr } = await shiplock(args, { env: { ...env, NODE_OPTIONS: `--import=${preload}` } })
    assert.equal(code, 0, stderr)
    return Number(/peak memory: (\d+) KiB/.exec(stderr)?.[1]) / 1024
  }
  const [small, large] = [await peakMib('small', 1), await peakMib('large', 300)]
  // The garbage collector is late on a busy machine.
  assert.ok(large - small < 120, `${large} MiB instead of ${small} MiB`)
})
