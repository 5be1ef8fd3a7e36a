import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings, rowVersions } from '../support/findings.ts'
import type { Json } from '../support/json.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

let reports = 0
/** The numbers and warnings of a report of these results, a second after the one before. */
async function report(results: unknown[], fields: object = {}) {
  api.clock.advance(1000)
  const file = { ...sarif(results, 'ESLint', { properties: { number: ++reports }, ...fields }) }
  const upload = await uploadReport(api, caller, file)
  assert.equal(upload.status, 'finished', upload.error)
  const { created, updated, unchanged, resolved } = upload.counts
  return { created, updated, unchanged, resolved, warnings: upload.warnings }
}

const result = (uri: string, ruleId = 'no-eval') => ({
  ruleId,
  message: { text: `${ruleId} was violated` },
  locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 3 } } }],
})

const idsByPath = async () => {
  const findings = (await listFindings(api, caller)).filter(({ state }: Json) => state === 'open')
  return Object.fromEntries(findings.map(({ id, location }: Json) => [location.path, id]).sort())
}

const UNCHANGED = { created: 0, updated: 0, resolved: 0 }
const counts = ({ created, updated, resolved }: Json) => ({ created, updated, resolved })

test('one tree that is written in four ways has the same findings', async () => {
  const first = await report([result('/tmp/a/x.js'), result('/tmp/a/y/z.js')])
  assert.match(first.warnings.join(), /^The report has absolute paths\. The prefix \/tmp\/a\/ was removed/)
  const ids = await idsByPath()
  assert.deepEqual(Object.keys(ids), ['x.js', 'y/z.js'])
  const rows = await rowVersions(api, caller)
  const spellings = [
    ['/other/place/x.js', '/other/place/y/z.js'],
    ['x.js', 'y/z.js'],
    ['C:\\agent\\_work\\7\\s\\x.js', 'C:\\agent\\_work\\7\\s\\y\\z.js'],
    ['file:///c%3A/agent/_work/8/s/x.js', 'file:///c%3A/agent/_work/8/s/y/z.js'],
    ['file:///builds/acme/app/x.js', 'y/z.js'],
  ]
  for (const uris of spellings) {
    const next = await report(uris.map((uri) => result(uri)))
    assert.deepEqual({ ...counts(next), warnings: next.warnings }, { ...UNCHANGED, warnings: [] }, uris[0])
  }
  assert.deepEqual(await idsByPath(), ids)
  assert.deepEqual(await rowVersions(api, caller), rows)
})

test('a single file is the same finding in every checkout', async () => {
  await report([result('/tmp/a/x.js')])
  const ids = await idsByPath()
  for (const uri of ['/other/place/x.js', 'x.js', 'C:\\agent\\_work\\7\\s\\x.js']) {
    assert.deepEqual(counts(await report([result(uri)])), UNCHANGED, uri)
  }
  assert.deepEqual([Object.keys(ids), await idsByPath()], [['x.js'], ids])
})

test('a checkout with the name of the repository is removed without a warning', async () => {
  const files = ['packages/web/src/a.ts', 'packages/web/src/b.ts']
  const first = await report(files.map((file) => result(`/builds/group/acme/app/${file}`)))
  assert.deepEqual(first.warnings, [])
  const ids = await idsByPath()
  assert.deepEqual(Object.keys(ids), files)
  const outside = [result('/usr/include/stdio.h'), result('/root/.cargo/registry/x/src/a.rs')]
  const next = await report([...outside, ...files.map((file) => result(`file:///__w/app/app/${file}`))])
  assert.deepEqual([next.created, next.resolved, next.warnings], [2, 0, []])
  const { 'usr/include/stdio.h': header, 'root/.cargo/registry/x/src/a.rs': crate, ...kept } = await idsByPath()
  assert.ok(header && crate)
  assert.deepEqual(kept, ids)
})

test('findings of other tools show where the checkout is', async () => {
  await uploadReport(api, caller, sarif([result('src/deep/a.js'), result('src/b.js')], 'Other'))
  const { warnings } = await report([result('/workspace/source/src/deep/a.js'), result('/workspace/source/src/c.js')])
  assert.deepEqual(warnings, [])
  const paths = (await listFindings(api, caller)).map(({ location }: Json) => location.path).sort()
  assert.deepEqual(paths, ['src/b.js', 'src/c.js', 'src/deep/a.js', 'src/deep/a.js'])
})

test('absolute paths after relative ones are made relative, in every part of the finding', async () => {
  const other = { physicalLocation: { artifactLocation: { uri: '/ci/ws/src/c.js' } } }
  const absolute = result('/ci/ws/src/b.js')
  await report([result('src/a.js'), { ...absolute, locations: [...absolute.locations, other] }])
  const [b] = (await listFindings(api, caller)).filter(({ location }: Json) => location.path === 'src/b.js')
  assert.match(b.description, /Also at:\n- src\/c\.js/)
})

test('paths without a common directory are kept, with a warning', async () => {
  const { warnings } = await report([result('/a/x.js'), result('/b/y.js')])
  assert.match(warnings.join(), /absolute paths without a common directory; they were kept\. If this is wrong, run/)
  assert.deepEqual(Object.keys(await idsByPath()), ['a/x.js', 'b/y.js'])
})

test('only the file that ESLint could not parse keeps its findings; the next complete report closes them', async () => {
  const root = '/builds/acme/app'
  const file = (at: number) => `${root}/src/${at % 9}.js`
  const results = Array.from({ length: 263 }, (_, at) => result(file(at), `rule-${at}`))
  const inBroken = results.filter((_, at) => at % 9 === 4)
  const unparsed = (count: number) => ({
    invocations: [
      {
        executionSuccessful: false,
        toolConfigurationNotifications: Array.from({ length: count }, () => ({
          level: 'error',
          message: { text: 'Parsing error: Unexpected token' },
          descriptor: { id: 'ESL0999' },
          locations: [{ physicalLocation: { artifactLocation: { uri: `file://${file(4)}`, index: 0 } } }],
        })),
      },
    ],
  })
  await report(results)
  const left = results.filter((_, at) => at % 9 !== 4 && at >= 58)
  const held = await report(left, unparsed(1))
  assert.equal(held.resolved, 263 - left.length - inBroken.length)
  assert.match(held.warnings.join(), /^The report states that ESLint could not scan src\/4\.js\. Findings in these/)
  assert.equal(Object.keys(await idsByPath()).length, 9)
  const open = async () => (await listFindings(api, caller)).filter(({ state }: Json) => state === 'open').length
  assert.equal(await open(), left.length + inBroken.length)
  assert.deepEqual(counts(await report(left, unparsed(2))), UNCHANGED)
  const complete = await report(left)
  assert.deepEqual([complete.resolved, await open(), complete.warnings], [inBroken.length, left.length, []])
})

const named = (level: string, locations?: unknown) => ({
  level,
  message: { text: 'syntax error while parsing AST from file' },
  ...(locations === undefined ? {} : { locations }),
})
const at = (uri: string) => [{ physicalLocation: { artifactLocation: { uri } } }]
const failed = (executionSuccessful: boolean, ...toolExecutionNotifications: unknown[]) => ({
  invocations: [{ executionSuccessful, toolExecutionNotifications }],
})
const SEMGREP = { level: 'warning', message: { text: 'Syntax error at line b.py:1:\n `(` was unexpected' } }

const judged: [what: string, fields: object, closed: number, warnings?: number][] = [
  ['names no file', failed(false, named('error')), 0],
  ['names a file, and has another error', failed(false, named('error', at('b.py')), named('error')), 0, 2],
  ['names only files of warnings', failed(false, named('warning', at('b.py'))), 0],
  ['names a file', failed(false, named('error', at('b.py'))), 1],
  ['succeeded, and names a file as Bandit does', failed(true, named('error', at('b.py'))), 1],
  ['succeeded, and names a file as Semgrep does', failed(true, SEMGREP), 1],
  ['succeeded, and names files of warnings only', failed(true, named('warning', at('b.py'))), 2],
  ['succeeded, and has an error without a file', failed(true, named('error')), 0],
]
for (const [what, fields, closed, stated = closed === 2 ? 0 : 1] of judged) {
  test(`a run that ${what} closes ${closed} of 2 missing findings`, async () => {
    await report([result('a.py'), result('b.py'), result('c.py')])
    const { resolved, warnings } = await report([result('a.py')], fields)
    assert.equal(resolved, closed)
    assert.equal(warnings.length, stated, warnings.join())
  })
}

test('a failed run that names a file and has no results closes nothing', async () => {
  await report([result('a.py'), result('b.py')])
  assert.equal((await report([], failed(false, named('error', at('b.py'))))).resolved, 0)
})

test('a file that Ruff could not parse, which it states as a result, keeps its findings', async () => {
  await report([result('src/a.py'), result('src/b.py'), result('src/c.py')])
  const broken = await report([result('src/a.py'), result('src/b.py', 'invalid-syntax')])
  assert.deepEqual([broken.created, broken.resolved], [1, 1])
  assert.equal((await report([result('src/a.py')])).resolved, 2)
  const text = 'Cannot use `match` statement on Python 3.8 (syntax was added in Python 3.10)'
  const newer = { ...result('src/a.py', 'invalid-syntax'), message: { text } }
  assert.equal((await report([newer])).resolved, 1)
})

test('syntax that stays invalid is the same finding while lines are added, and is closed when it is repaired', async () => {
  const at = (uri: string, ruleId: string, startLine: number) => {
    const location = { physicalLocation: { artifactLocation: { uri }, region: { startLine } } }
    return { ...result(uri, ruleId), locations: [location] }
  }
  const broken = (line: number) => [
    at('src/a.py', 'S101', line + 40),
    at('src/b.py', 'invalid-syntax', line),
    at('src/b.py', 'invalid-syntax', line + 6),
    at('src/b.py', 'invalid-syntax', line + 9),
  ]
  await report([...broken(3), at('src/b.py', 'S102', 30)])
  const ids = async () => (await listFindings(api, caller)).map(({ id }: Json) => id).sort()
  const first = await ids()
  const moved = await report([...broken(5).slice(0, 3), at('src/b.py', 'invalid-syntax', 15)])
  assert.deepEqual([moved.created, moved.resolved, await ids()], [0, 0, first])
  const repaired = await report([at('src/a.py', 'S101', 45)])
  assert.deepEqual([repaired.created, repaired.resolved], [0, 4])
})

test('after a report with an unparsed file, one with findings of other rules only closes nothing', async () => {
  const rules = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => result(`${from + index}.js`, `rule-${from + index}`))
  await report(rules(0, 40))
  assert.equal((await report(rules(0, 20), failed(false, named('error', at('20.js'))))).resolved, 19)
  const held = await report(rules(100, 120))
  assert.equal(held.resolved, 0)
  assert.match(held.warnings.join(), /^No findings of ESLint were closed\. 21 of 21 open findings are missing/)
})

test('more unparsed files than the limit close nothing', async () => {
  await report([result('a.py'), result('b.py')])
  const files = Array.from({ length: 1001 }, (_, number) => named('error', at(`f${number}.py`)))
  const { resolved, warnings } = await report([result('a.py')], failed(true, ...files))
  assert.equal(resolved, 0)
  assert.match(warnings.join(), /No findings of ESLint were closed\. The tool could not scan more than 1000 files\./)
})

test('absolute paths of unparsed files alone are resolved as well', async () => {
  await report([result('src/a.py'), result('src/b.py'), result('src/c.py')])
  const { resolved } = await report([result('src/a.py')], failed(false, named('error', at('/ci/x/src/b.py'))))
  assert.equal(resolved, 1)
})
