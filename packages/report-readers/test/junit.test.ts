import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJunit } from '../src/junit.ts'
import { FIXTURES, fileAt, writeReport } from './support/report-file.ts'

const read = (content: string | Uint8Array) => readJunit([writeReport(content)])
const suite = (cases: string, attributes = '') => `<testsuite name="s" ${attributes}>${cases}</testsuite>`
const counts = async (content: string) => {
  const { passed, failed, errors, skipped } = await read(content)
  return [passed, failed, errors, skipped]
}

const expected = JSON.parse(readFileSync(`${FIXTURES}expected.json`, 'utf8')).junit as Record<string, object>
for (const [file, figures] of Object.entries(expected)) {
  test(`${file} has the figures that another program counted`, async () => {
    const { passed, failed, errors, skipped } = await readJunit([fileAt(`${FIXTURES}junit/${file}`)])
    assert.deepEqual({ passed, failed, errors, skipped }, { ...figures })
  })
}

test('several files are one result', async () => {
  const files = Object.keys(expected).map((file) => fileAt(`${FIXTURES}junit/${file}`))
  const results = await readJunit(files)
  const sum = (name: string) =>
    Object.values(expected).reduce((total, figures) => total + Reflect.get(figures, name), 0)
  assert.deepEqual([results.passed, results.failed], [sum('passed'), sum('failed')])
  assert.equal(results.failures.length, 50)
})

test('a failure has the suite, the name and the message of the test', async () => {
  const { failures, durationSeconds } = await readJunit([fileAt(`${FIXTURES}junit/gradle.xml`)])
  assert.equal(durationSeconds, 2.622)
  assert.equal(failures.length, 1)
  assert.equal(failures[0]?.suite, 'com.victor.paymentreporting.app.PowerDroidControllerTest')
  assert.equal(failures[0]?.name, 'failsToDemonstrateJUnitAnnotations()')
  assert.match(failures[0]?.message ?? '', /^java\.lang\.AssertionError: Response content\nExpected: a string/)
})

test('the message is the attribute, else the text, else the type', async () => {
  const messages = async (failure: string) =>
    (await read(suite(`<testcase name="a">${failure}</testcase>`))).failures.map(({ message }) => message)
  assert.deepEqual(await messages('<failure message="m" type="T">text</failure>'), ['m'])
  assert.deepEqual(await messages('<failure message="" type="T"> te<![CDATA[xt]]> </failure>'), ['text'])
  assert.deepEqual(await messages('<failure message="Failed" type="">=== FAIL</failure>'), ['=== FAIL'])
  assert.deepEqual(await messages('<failure message="Failed"/>'), ['Failed'])
  assert.deepEqual(await messages('<error type="T"/>'), ['T'])
  assert.deepEqual(await messages('<failure/>'), [null])
  assert.deepEqual(await messages('<failure>a<b>b</b></failure><system-out>out</system-out>'), ['ab'])
  assert.deepEqual(await messages('<failure message="&#27;[31mred&#x1B;[0m \u001b[1mbold&amp;"/>'), ['red bold&'])
})

test('the suite is its name, else the class; pytest names every suite `pytest`', async () => {
  const suiteOf = async (name: string) =>
    (await read(`<testsuite ${name}><testcase classname="c" name="n"><failure/></testcase></testsuite>`)).failures[0]
      ?.suite
  assert.equal(await suiteOf('name="s"'), 's')
  assert.equal(await suiteOf('name=" "'), 'c')
  assert.equal(await suiteOf(''), 'c')
  assert.equal(await suiteOf('name="pytest"'), 'c')
})

test('a case counts once, by the worst of its outcomes', async () => {
  const one = (inner: string, attributes = '') => counts(suite(`<testcase name="a" ${attributes}>${inner}</testcase>`))
  assert.deepEqual(await one(''), [1, 0, 0, 0])
  assert.deepEqual(await one('<failure/><failure/><error/><skipped/>'), [0, 1, 0, 0])
  assert.deepEqual(await one('<error/><skipped/>'), [0, 0, 1, 0])
  for (const element of ['skipped', 'ignored', 'disabled']) assert.deepEqual(await one(`<${element}/>`), [0, 0, 0, 1])
  for (const status of ['status="notrun"', 'result="suppressed"', 'executed="False"', 'status="disabled"'])
    assert.deepEqual(await one('', status), [0, 0, 0, 1])
  assert.deepEqual(await one('<failure/>', 'status="run" result="completed"'), [0, 1, 0, 0])
})

test('a case that Surefire ran again passed if a later run passed', async () => {
  const again = '<flakyFailure message="m"><stackTrace/></flakyFailure><flakyError/>'
  assert.deepEqual(await counts(suite(`<testcase name="a">${again}</testcase>`)), [1, 0, 0, 0])
  const never = '<failure/><rerunFailure><stackTrace>x</stackTrace></rerunFailure><rerunError/>'
  assert.deepEqual(await counts(suite(`<testcase name="a">${never}</testcase>`)), [0, 1, 0, 0])
})

test('the cases count, not the totals of their suites', async () => {
  const cases = '<testcase name="a"/><testcase name="b"><failure/></testcase>'
  assert.deepEqual(await counts(suite(cases, 'tests="9" failures="0" errors="3"')), [1, 1, 0, 0])
  assert.deepEqual(await counts(`<testsuites tests="9">${suite('', 'tests="0"')}</testsuites>`), [0, 0, 0, 0])
  assert.deepEqual(await counts(suite('', 'tests="5" failures="1" errors="1" skipped="1"')), [2, 1, 1, 1])
  assert.deepEqual(await counts('<testsuites tests="4" failures="x" disabled="1"/>'), [3, 0, 0, 1])
  assert.deepEqual(await counts(suite('', 'tests="1" failures="2"')), [0, 2, 0, 0])
})

test('a suite that could not be started counts as its error', async () => {
  const { errors, failures } = await read(`<testsuites>${suite('<error message="no such module"/>')}</testsuites>`)
  assert.equal(errors, 1)
  assert.deepEqual(failures, [{ suite: 's', name: 's', message: 'no such module' }])
})

test('the duration is the sum of the cases, else of the suites', async () => {
  const seconds = async (content: string) => (await read(content)).durationSeconds
  assert.equal(await seconds(suite('<testcase time="1.5"/><testcase time="0.25"/>', 'time="9"')), 1.75)
  assert.equal(await seconds(suite('<testcase/>', 'time="9"')), 9)
  assert.equal(await seconds(`<testsuites time="7">${suite(suite('<testcase time="1"/>'))}</testsuites>`), 1)
  assert.equal(await seconds(`<testsuites time="7">${suite('<testcase/>')}</testsuites>`), 7)
  assert.equal(await seconds(suite('<testcase time="1,234.5"/><testcase time="0,5"/>')), 1235)
  assert.equal(await seconds(suite('<testcase time="NaN"/><testcase time="-1"/><testcase time=""/>')), 0)
})

test('the encoding is that of the byte order mark, else of the declaration, else UTF-8', async () => {
  const name = async (content: Uint8Array) => (await read(content)).failures[0]?.name
  const document = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>${suite('<testcase name="größe ✓"><failure/></testcase>')}`
  const utf16 = Buffer.from(document('utf-16'), 'utf16le')
  assert.equal(await name(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])), 'größe ✓')
  assert.equal(await name(Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()])), 'größe ✓')
  assert.equal(await name(utf16), 'größe ✓')
  assert.equal(await name(Buffer.from(`\ufeff${document('utf-8')}`)), 'größe ✓')
  assert.equal(await name(Buffer.from(document('utf-16'))), 'größe ✓')
  assert.equal(await name(Buffer.from(document('x-unknown'))), 'größe ✓')
  assert.equal(await name(Buffer.from(document('iso-8859-1'), 'latin1')), 'größe \ufffd')
  assert.equal(await name(Buffer.from(document('utf-8'), 'latin1')), 'gr\ufffd\ufffde \ufffd')
})

test('document types are skipped and entities are not expanded', async () => {
  const bomb = `<!DOCTYPE t [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`
  const { failures } = await read(
    `${bomb}${suite('<testcase name="&b;&f;&lt;"><failure>&a;&nbsp;</failure></testcase>')}`,
  )
  assert.deepEqual(failures, [{ suite: 's', name: '&b;&f;<', message: '&a;&nbsp;' }])
})

test('characters that XML does not allow, comments and white space before the declaration are accepted', async () => {
  const content = `\n\n<?xml version="1.0"?><!-- a -- b -->${suite('<testcase name="a\u0001"><failure>\u0000</failure></testcase>')}`
  const { failures } = await read(content)
  assert.deepEqual(failures, [{ suite: 's', name: 'a\ufffd', message: '\ufffd' }])
})

test('the failures stay within the limit of an attestation, whatever their characters', async () => {
  for (const character of ['x', '"', '€', '😀', '\ufffe']) {
    const message = character.replace('"', '&quot;').repeat(3000)
    const failed = `<testcase name="${message}" ><failure message="${message}"/></testcase>`
    const results = await read(suite(failed.repeat(80)))
    assert.equal(results.failed, 80)
    assert.ok(Buffer.byteLength(JSON.stringify(results)) < 64 * 1024, character)
    assert.ok(results.failures.length >= 5 && results.failures.length <= 50)
    for (const { name } of results.failures) assert.ok(name.isWellFormed() && name.endsWith('…'))
  }
})

const WRONG: [what: string, content: string, message: RegExp][] = [
  ['an empty file', ' \n', /report-\d+: the file is empty$/],
  ['a truncated file', '<testsuite>\n<testcase name="a">', /:2: the file ends before <\/testcase>$/],
  ['text', 'ok 1', /:1: the file is not valid XML: text data outside of root node$/],
  ['JSON', '{"a": 1}', /:1: the file is not valid XML/],
  ['wrong nesting', '<testsuite>\n\n<a></b></testsuite>', /:3: the file is not valid XML: unexpected close tag/],
  ['other XML', '<!-- x -->\n<project/>', /:2: expected JUnit XML with <testsuites> or <testsuite>, found <project>$/],
  ['an NUnit report', '<test-run/>', /found <test-run>: the file is an NUnit report/],
  ['coverage', '<coverage/>', /: the file is a coverage report; use --coverage$/],
  ['deep nesting', `<testsuite>${'<a>'.repeat(5000)}`, /nested deeper than 1000 levels/],
]
for (const [what, content, message] of WRONG) {
  test(`${what} is refused with the file and the line`, async () => {
    await assert.rejects(read(content), { name: 'ReportFileError', message })
  })
}

test('a file that does not exist is refused', async () => {
  const file = writeReport('')
  rmSync(file.path)
  await assert.rejects(readJunit([file]), { message: `${file.path}: the file cannot be read (ENOENT)` })
})

type Tree = { cases: string[]; suites: Tree[] }
const ELEMENTS = ['', '<failure/>', '<error>e</error>', '<skipped/>', '<system-out><![CDATA[<failure/>]]></system-out>']
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    cases: fc.array(fc.constantFrom(...ELEMENTS), { maxLength: 5 }),
    suites: fc.oneof({ depthSize: 'small' }, fc.constant<Tree[]>([]), fc.array(tie('tree'), { maxLength: 3 })),
  }),
}))

test('random suites have as many tests of each outcome as were written', async () => {
  const write = ({ cases, suites }: Tree): string =>
    suite([...cases.map((inner) => `<testcase name="x">${inner}</testcase>`), ...suites.map(write)].join('\n'))
  const count = ({ cases, suites }: Tree, element: string): number =>
    suites.reduce((sum, inner) => sum + count(inner, element), cases.filter((inner) => inner.includes(element)).length)
  await fc.assert(
    fc.asyncProperty(tree, async (root) => {
      const passed = count(root, '') - count(root, '<failure/>') - count(root, '<error>') - count(root, '<skipped/>')
      const printed = count(root, 'system-out')
      const found = await counts(`<testsuites>${write(root)}</testsuites>`)
      const failed = count(root, '<failure/>') - printed
      assert.deepEqual(found, [passed + printed, failed, count(root, '<error>'), count(root, '<skipped/>')])
    }),
    { numRuns: 100 },
  )
})

test('a file of 200 MB is read with constant memory', () => {
  const script = new URL('./support/read-large-junit.ts', import.meta.url).pathname
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--max-old-space-size=64', script, '200'], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  const { passed, failed, megabytes } = JSON.parse(stdout)
  assert.deepEqual([passed, failed], [100_000, 1])
  // The garbage collector is late on a busy machine.
  assert.ok(megabytes < 120, `${megabytes} MB more than before`)
})
