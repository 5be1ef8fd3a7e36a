// No second chance: it is about what strangers read from the machine of a job.
import assert from 'node:assert/strict'
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { createRun } from '../../server/test/support/ci-runs.ts'
import { shiplock, temporaryDirectory } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'
import { startServer } from './support/server.ts'

/** The checkout of a stranger, and what else the machine of the job has. */
const root = realpathSync(temporaryDirectory())
const cwd = join(root, 'checkout')
const server = await startServer()
const { id: runId } = await createRun(server.api, server.caller, { external_run_id: 'links' })

const JUNIT = '<testsuite name="s"><testcase name="t"/></testsuite>'
const SARIF = '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[]}]}'
const REPOSITORY = ['--repository', 'acme/shop', '--commit', 'a'.repeat(40), '--ref', 'main']

before(() => {
  write('home/secret.txt', 'secret')
  write('home/results.xml', JUNIT)
  write('home/results.sarif', SARIF)
  write('checkout/app.txt', 'app')
  write('checkout/results/tests.xml', JUNIT)
  link('home/secret.txt', 'leak.txt')
  link('home/results.xml', 'results.xml')
  link('home/results.sarif', 'results.sarif')
  link('home', 'home')
  link('checkout/app.txt', 'inside.txt')
  link('checkout/results', 'latest')
  link('checkout', 'loop')
  link('nowhere', 'dangling.txt')
})

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function link(target: string, path: string): void {
  symlinkSync(join(root, target), join(cwd, path))
}

const report = (...args: string[]) =>
  shiplock(['report', ...args], { cwd, env: { ...server.env, SHIPLOCK_RUN: runId } })

/** The paths of the files that the server has of a report. */
async function sent(job: string, ...args: string[]): Promise<{ paths: string[]; stderr: string }> {
  const { code, json, stderr } = await report(...args, '--job', job, '--json')
  assert.equal(code, 0, stderr)
  const rows = await server.api.services.sql`
    select path
    from ci_artifacts
    where org_id = ${server.caller.orgId}
      and report_id = ${json.report_id}
      and status = 'uploaded'
    order by path collate "C"`
  return { paths: rows.map(({ path }) => path as string), stderr }
}

test('a glob sends what lies in the working directory, and says what it left out', async () => {
  const { paths, stderr } = await sent('glob', '--artifacts', '**')
  assert.deepEqual(paths, ['app.txt', 'inside.txt', 'results/tests.xml'])
  assert.match(
    stderr,
    /^Left out, because links leave the working directory: leak\.txt, results\.sarif, results\.xml$/m,
  )
})

test('--follow-links sends what is behind links, too', async () => {
  const { paths } = await sent('follow', '--artifacts', '{leak,inside}.txt', '--artifacts', 'home', '--follow-links')
  assert.deepEqual(paths, ['home/results.sarif', 'home/results.xml', 'home/secret.txt', 'inside.txt', 'leak.txt'])
  assert.deepEqual((await sent('outside', '--artifacts', '../home/*.xml', '--follow-links')).paths, ['results.xml'])
})

test('a file elsewhere is sent if it is named by its real path', async () => {
  const { paths } = await sent(
    'real',
    '--artifacts',
    join(root, 'home/secret.txt'),
    '--artifacts',
    '../home/results.xml',
  )
  assert.deepEqual(paths, ['results.xml', 'secret.txt'])
})

test('--allow-missing sends the report without a link that leads nowhere', async () => {
  const args = ['--artifacts', 'dangling.txt', '--artifacts', 'app.txt', '--allow-missing']
  assert.deepEqual((await sent('dangling', ...args)).paths, ['app.txt'])
})

const REFUSED: [what: string, args: string[], named: RegExp][] = [
  ['a link', ['--junit', 'results.xml'], /--junit "results\.xml" .* to \S+\/home\/results\.xml/],
  ['a glob', ['--junit', '../home/*.xml', '--allow-missing'], /--junit "\.\.\/home\/\*\.xml"/],
  ['a glob that meets only links', ['--junit', 'res*.xml'], /--junit "res\*\.xml"/],
  ['a summary', ['--summary', 'leak.txt', '--allow-missing'], /--summary "leak\.txt" .* to \S+\/home\/secret\.txt/],
]
for (const [what, args, named] of REFUSED) {
  test(`2: ${what} leaves the working directory`, async () => {
    const { code, stdout, stderr } = await report(...args)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, named)
    assert.match(stderr, /leaves the working directory.*--follow-links/)
  })
}

test('2: nothing matches but directories behind links, which the error says', async () => {
  const { code, stderr } = await report('--artifacts', '**/secret.txt')
  assert.equal(code, 2)
  assert.match(stderr, /No file matches --artifacts "\*\*\/secret\.txt".*--follow-links/)
})

test('upload: 2 for a link that leaves; its real path and --follow-links are accepted', async () => {
  const upload = (...args: string[]) =>
    shiplock(['upload', ...args, ...REPOSITORY, '--no-wait', '--json'], { cwd, env: server.env })
  const refused = await upload('results.sarif')
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(
    refused.stderr,
    /"results\.sarif" leaves the working directory, to \S+\/home\/results\.sarif.*--follow-links/,
  )
  for (const args of [[join(root, 'home/results.sarif')], ['results.sarif', '--follow-links']]) {
    const { code, json, stderr } = await upload(...args)
    assert.equal(code, 0, stderr)
    assert.equal(json.filename, 'results.sarif')
  }
})

test('1: a file that is replaced by a link before it is sent is not read', async () => {
  write('checkout/swapped.txt', 'before')
  const malicious = await startScriptedServer(({ method, path }, response) => {
    if (method === 'PUT') return response.writeHead(200).end()
    rmSync(join(cwd, 'swapped.txt'))
    link('home/secret.txt', 'swapped.txt')
    const slot = {
      artifact_id: 'a',
      path: 'swapped.txt',
      url: `${malicious.url}/storage/a`,
      method: 'PUT',
      headers: {},
    }
    const stored = { report_id: 'r', run_id: runId, url: path, uploads: [slot], skipped: [], warnings: [], results: [] }
    sendJson(response, 201, { data: stored })
  })
  const { code, stdout, stderr } = await shiplock(['report', '--artifacts', 'swapped.txt'], {
    cwd,
    env: { SHIPLOCK_URL: malicious.url, SHIPLOCK_KEY: 'x', SHIPLOCK_RUN: runId },
  })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /swapped\.txt was replaced after it was found/)
  assert.ok(malicious.received.every(({ body }) => !body.includes('secret')))
})
