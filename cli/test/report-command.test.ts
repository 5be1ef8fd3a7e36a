import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { artifactOf, sendReport, storedReport } from '../../server/test/support/ci-reports.ts'
import { createRun } from '../../server/test/support/ci-runs.ts'
import { ended, shiplock, startShiplock, temporaryDirectory } from './support/program.ts'
import { startScriptedServer } from './support/scripted-server.ts'
import { startServer } from './support/server.ts'

const FIXTURES = new URL('../../packages/report-readers/test/fixtures/', import.meta.url).pathname
const SARIF = readFileSync(new URL('../../server/test/fixtures/sarif/trivy.sarif', import.meta.url))
const SBOM = readFileSync(new URL('../../server/test/fixtures/cyclonedx/trivy.json', import.meta.url))

const cwd = temporaryDirectory()
const server = await startServer()
const { id: runId } = await createRun(server.api, server.caller, { external_run_id: 'report' })

before(() => {
  write('junit/a.xml', readFileSync(`${FIXTURES}junit/gradle.xml`))
  write('junit/b.xml', readFileSync(`${FIXTURES}junit/jest.xml`))
  write('lcov.info', 'SF:a\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,0\nend_of_record\n')
  write('bom.json', SBOM)
  write('scan.sarif', SARIF)
  write('SUMMARY.md', '# Built')
  write('dist/app.js', 'app')
  write('dist/sub/empty.js', '')
  write('dist/[id].js', 'id')
})

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), content)
}

const report = (args: string[], env: Record<string, string> = {}) =>
  shiplock(['report', ...args], { cwd, env: { ...server.env, SHIPLOCK_RUN: runId, ...env } })

const stored = async (args: string[], env: Record<string, string> = {}) => {
  const { code, json, stderr } = await report([...args, '--json'], env)
  assert.equal(code, 0, stderr)
  return { ...(await storedReport(server.api, server.caller, json.report_id)), json, stderr }
}

test('0: one report with everything, its URL on standard output, and what was read on standard error', async () => {
  const args = ['--junit', 'junit/*.xml', '--coverage', 'lcov.info', '--threshold', '75', '--sbom', 'bom.json']
  const { code, stdout, stderr } = await report([
    ...[...args, '--scan', 'scan.sarif', '--artifacts', 'dist/**', '--summary', 'SUMMARY.md'],
    ...['--job', 'build', '--matrix', '{"os":"linux","node":24}', '--name', 'all'],
  ])
  assert.equal(code, 0, stderr)
  assert.match(stdout, new RegExp(`^http://localhost:\\d+/runs/${runId}/reports/\\S+\\n$`))
  assert.match(stderr, /^Tests: 3 passed, 5 failed, 0 errors, 1 skipped in [\d.]+ s$/m)
  assert.match(stderr, /^Coverage: 75 % of the lines \(lcov\.info\)$/m)
  assert.match(stderr, /^SBOM: \d+ components \(bom\.json\)$/m)
  assert.match(stderr, /^Scan by Trivy: \d+ critical, \d+ high, \d+ medium, \d+ low \(scan\.sarif\)$/m)
  const { report: row, attestations } = await storedReport(
    server.api,
    server.caller,
    stdout.trim().split('/').at(-1) ?? '',
  )
  assert.deepEqual(
    [row.job_name, row.matrix, row.name, row.summary, row.runner],
    ['build', { os: 'linux', node: 24 }, 'all', '# Built', null],
  )
  const dataOf = (kind: string) => attestations.find((attestation: { kind: string }) => attestation.kind === kind)?.data
  assert.deepEqual([dataOf('test-results').passed, dataOf('test-results').failures.length], [3, 5])
  assert.deepEqual(dataOf('coverage'), { lines: 75, threshold: 75 })
  assert.deepEqual([dataOf('sbom').format, dataOf('sbom').artifact], ['cyclonedx', 'bom.json'])
  assert.deepEqual(
    [dataOf('scan').tool, dataOf('scan').format, dataOf('scan').artifact],
    ['Trivy', 'sarif', 'scan.sarif'],
  )
})

test('a repetition replaces the report and sends no file again; artifacts have paths with `/`', async () => {
  const args = ['--artifacts', 'dist', '--artifacts', 'dist/app.js', '--artifacts', 'dist/[id].js', '--job', 'files']
  const first = await stored(args)
  assert.deepEqual(first.json.uploads.map(({ path }: { path: string }) => path).sort(), [
    'dist/[id].js',
    'dist/app.js',
    'dist/sub/empty.js',
  ])
  const second = await stored(args)
  assert.equal(second.json.report_id, first.json.report_id)
  assert.deepEqual(second.json.uploads, [])
  assert.deepEqual(
    second.json.skipped.map(({ reason }: { reason: string }) => reason),
    Array(3).fill('already_uploaded'),
  )
})

test('4 after everything was sent: the threshold is missed', async () => {
  const { code, stdout, stderr } = await report(['--coverage', 'lcov.info', '--threshold', '75.1', '--job', 'low'])
  assert.equal(code, 4)
  assert.match(stderr, /The line coverage in lcov\.info is 75 %, below the threshold of 75\.1 %/)
  const { attestations } = await storedReport(server.api, server.caller, stdout.trim().split('/').at(-1) ?? '')
  assert.equal(attestations[0].status, 'fail')
})

test('4 after everything was sent: a scan has findings of the severity or a worse one', async () => {
  const { code, stdout, stderr } = await report(['--scan', 'scan.sarif', '--fail-on', 'low', '--job', 'scan'])
  assert.equal(code, 4)
  assert.match(stderr, /The scan in scan\.sarif has findings of severity low or worse: \d+ critical/)
  const { attestations } = await storedReport(server.api, server.caller, stdout.trim().split('/').at(-1) ?? '')
  assert.deepEqual([attestations[0].status, attestations[0].data.failOn], ['fail', 'low'])
  write('none.sarif', '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[]}]}')
  assert.equal((await report(['--scan', 'none.sarif', '--fail-on', 'low'])).code, 0)
})

test('0: failed tests alone do not fail the command', async () => {
  assert.equal((await report(['--junit', 'junit/b.xml'])).code, 0)
})

test('the job, its copy and its runner come from the CI', async () => {
  const env = {
    ...{ CI: 'true', CIRCLECI: 'true', CIRCLE_WORKFLOW_ID: 'w', CIRCLE_BUILD_NUM: '7', CIRCLE_JOB: 'unit' },
    ...{ CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '4', CIRCLE_SHA1: '0'.repeat(40), CIRCLE_BRANCH: 'main' },
  }
  const { report: row } = await stored(['--junit', 'junit/a.xml'], env)
  assert.deepEqual([row.job_name, row.matrix], ['unit', { copy: 1 }])
  assert.ok(row.runner)
})

test('a matrix as CI systems write it: null, and values that are no scalars', async () => {
  const matrix = async (text: string) => (await stored(['--junit', 'junit/a.xml', '--matrix', text])).report.matrix
  assert.equal(await matrix('null'), null)
  assert.deepEqual(await matrix('{"a":{"b":1},"c":null}'), { a: '{"b":1}', c: null })
})

test('files from elsewhere have their name; --allow-missing sends the rest', async () => {
  const elsewhere = temporaryDirectory()
  writeFileSync(join(elsewhere, 'other.sarif'), SARIF)
  const { attestations } = await stored([
    ...['--scan', join(elsewhere, 'other.sarif'), '--junit', 'none/*.xml', '--summary', 'none.md'],
    ...['--allow-missing', '--job', 'elsewhere'],
  ])
  assert.deepEqual(
    attestations.map(({ name }: { name: string }) => name),
    ['other.sarif'],
  )
})

test('more files than one request takes', async () => {
  for (let index = 0; index < 60; index++) write(`many/${index}.txt`, String(index))
  const { json } = await stored(['--artifacts', 'many/*', '--job', 'many'])
  assert.equal(json.uploads.length, 60)
})

test('of a directory, the XML files are test results', async () => {
  write('junit/a.txt', 'the same for people')
  const { attestations } = await stored(['--junit', 'junit', '--job', 'directory'])
  assert.equal(attestations[0].data.passed, 3)
})

test('a repetition completes what an interrupted call left', async () => {
  const artifacts = [artifactOf('dist/app.js', 'app'), artifactOf('dist/[id].js', 'other')]
  const left = await sendReport(server.api, server.caller, runId, { job: { name: 'again' }, artifacts })
  const { json } = await stored(['--artifacts', 'dist/*', '--job', 'again'])
  assert.equal(json.report_id, left.report_id)
  assert.equal(json.uploads.length, 2)
  const once = await stored(['--artifacts', 'dist/*', '--job', 'again'])
  assert.deepEqual([once.json.uploads.length, once.json.skipped.length], [0, 2])
})

test('130: Ctrl-C ends the command', async () => {
  const silent = await startScriptedServer(() => {})
  const child = startShiplock(['report', '--junit', 'junit/*.xml'], {
    cwd,
    env: { SHIPLOCK_URL: silent.url, SHIPLOCK_KEY: 'x', SHIPLOCK_RUN: runId },
  })
  child.stderr?.once('data', () => child.kill('SIGINT'))
  const { code, stdout, stderr } = await ended(child)
  assert.deepEqual([code, stdout], [130, ''])
  assert.doesNotMatch(stderr, /\n\s+at /)
})

test('0: tries of a test are counted as the options say, and what is odd in a file is said', async () => {
  const [failed, passed] = ['<testcase name="a"><failure>x & y</failure></testcase>', '<testcase name="a"/>']
  write('tries/a.xml', `<testsuite name="s">${failed}${passed}</testsuite>`)
  const testsOf = async (...options: string[]) => {
    const { attestations, stderr } = await stored(['--junit', 'tries', '--job', 'tries', ...options])
    return { ...attestations[0].data, stderr }
  }
  const each = await testsOf()
  assert.deepEqual([each.passed, each.failed, each.flaky], [1, 1, 0])
  assert.match(each.stderr, /tries\/a\.xml:1: an `&` begins no reference of XML and was read as text/)
  const merged = await testsOf('--retries')
  assert.deepEqual([merged.passed, merged.failed, merged.flakyTests], [1, 0, [{ suite: 's', name: 'a' }]])
  assert.match(merged.stderr, /^Tests: 1 passed \(1 in a later try\), 0 failed/m)
})

const WRONG: [what: string, args: string[], message: RegExp][] = [
  ['nothing to report', [], /Give at least one of --junit, --coverage/],
  [
    'a glob without files',
    ['--junit', 'none/**/*.xml'],
    /No file matches --junit "none\/\*\*\/\*\.xml"; --allow-missing/,
  ],
  ['no summary', ['--summary', 'none.md'], /There is no file --summary "none\.md"/],
  ['a threshold without coverage', ['--junit', 'junit/a.xml', '--threshold', '80'], /--threshold needs --coverage/],
  ['tries without tests', ['--coverage', 'lcov.info', '--retries'], /--retries and --count-retries need --junit/],
  [
    'two ways to count tries',
    ['--junit', 'junit/a.xml', '--retries', '--count-retries'],
    /Give either --retries or --count-retries/,
  ],
  ['a severity without a scan', ['--junit', 'junit/a.xml', '--fail-on', 'high'], /--fail-on needs --scan/],
  ['an unknown severity', ['--scan', 'scan.sarif', '--fail-on', 'info'], /--fail-on must be one of critical, high/],
  [
    'a wrong threshold',
    ['--coverage', 'lcov.info', '--threshold', '101'],
    /--threshold must be a number from 0 to 100/,
  ],
  ['a matrix that is no JSON', ['--junit', 'junit/a.xml', '--matrix', 'os=linux'], /--matrix is not valid JSON/],
  ['a matrix that is no object', ['--junit', 'junit/a.xml', '--matrix', '[1]'], /--matrix must be a JSON object/],
]
for (const [what, args, message] of WRONG) {
  test(`2: ${what}`, async () => {
    const { code, stdout, stderr } = await report(args)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, message)
  })
}

const BROKEN: [what: string, args: string[], message: RegExp][] = [
  ['a wrong file', ['--junit', 'lcov.info'], /lcov\.info:\d: the file is not valid XML/],
  ['an SBOM as a scan', ['--scan', 'lcov.info'], /lcov\.info: expected SARIF or CycloneDX in JSON/],
  ['a summary that is too large', ['--summary', 'large.md'], /large\.md is larger than 1 MiB/],
  ['too many files', ['--artifacts', 'thousand/*'], /A report has at most 1000 files, but 1001 were found/],
  ['an unknown run', ['--junit', 'junit/a.xml', '--run', 'run_none'], /\(404 not_found/],
]
for (const [what, args, message] of BROKEN) {
  test(`1: ${what}`, async () => {
    write('large.md', 'x'.repeat(2 ** 20 + 1))
    for (let index = 0; index < 1001; index++) write(`thousand/${index}`, '')
    const { code, stdout, stderr } = await report(args)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /\n\s+at /)
  })
}

test('--image names what the job built by its digest; a text without one is a mistake', async () => {
  const sha256 = 'c'.repeat(64)
  const { json } = await stored(['--image', `ghcr.io/acme/shop:1@sha256:${sha256}`, '--job', 'image'])
  const { body } = await server.api.request('GET', `/v1/artifacts?sha256=${sha256}`, { key: server.caller.key })
  assert.deepEqual(
    body.data.reports.map(({ id, name }: { id: string; name: string }) => [id, name]),
    [[json.report_id, 'ghcr.io/acme/shop']],
  )
  const { code, stderr } = await report(['--image', 'ghcr.io/acme/shop:1'])
  assert.equal(code, 2)
  assert.match(stderr, /--image: "ghcr\.io\/acme\/shop:1" is not an image with its digest/)
})
