import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJunit } from '../src/junit.ts'
import type { Retries } from '../src/junit-case.ts'
import { ReferenceRepair } from '../src/xml-references.ts'
import { FIXTURES, fileAt, writeReport } from './support/report-file.ts'

/** The results, and the warnings without the names of files. */
async function readWith(content: string | Uint8Array, retries: Retries = 'stated') {
  const warnings: string[] = []
  const results = await readJunit([writeReport(content)], retries, warnings)
  return { ...results, warnings: warnings.map((warning) => warning.replace(/^.*report-\d+:/, '')) }
}
const read = (content: string | Uint8Array) => readWith(content)
const suite = (cases: string, attributes = '') => `<testsuite name="s" ${attributes}>${cases}</testsuite>`
const counts = async (content: string) => {
  const { passed, failed, errors, skipped } = await read(content)
  return [passed, failed, errors, skipped]
}

const expected = JSON.parse(readFileSync(`${FIXTURES}expected.json`, 'utf8')).junit as Record<string, object>
for (const [file, figures] of Object.entries(expected)) {
  test(`${file} has the figures that another program counted`, async () => {
    const { passed, failed, errors, skipped } = await readJunit([fileAt(`${FIXTURES}junit/${file}`)], 'stated', [])
    assert.deepEqual({ passed, failed, errors, skipped }, { ...figures })
  })
}

test('several files are one result', async () => {
  const files = Object.keys(expected).map((file) => fileAt(`${FIXTURES}junit/${file}`))
  const results = await readJunit(files, 'stated', [])
  const sum = (name: string) =>
    Object.values(expected).reduce((total, figures) => total + Reflect.get(figures, name), 0)
  assert.deepEqual([results.passed, results.failed], [sum('passed'), sum('failed')])
  assert.equal(results.failures.length, 50)
})

test('a failure has the suite, the name and the message of the test', async () => {
  const { failures, durationSeconds } = await readJunit([fileAt(`${FIXTURES}junit/gradle.xml`)], 'stated', [])
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
  assert.deepEqual(await one('<failure/><failure/><error/>'), [0, 1, 0, 0])
  assert.deepEqual(await one('<failure/><failure/><error/><skipped/>'), [0, 0, 1, 0])
  assert.deepEqual(await one('<failure message="m"/><skipped/>'), [0, 0, 0, 1])
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
  assert.deepEqual(await counts(suite(cases, 'tests="9" failures="0" errors="1"')), [1, 1, 0, 0])
  assert.deepEqual(await counts(`<testsuites tests="9">${suite('', 'tests="0"')}</testsuites>`), [0, 0, 0, 0])
  assert.deepEqual(await counts(suite('', 'tests="5" failures="1" errors="1" skipped="1"')), [2, 1, 1, 1])
  assert.deepEqual(await counts('<testsuites tests="4" failures="x" disabled="1"/>'), [3, 0, 0, 1])
  assert.deepEqual(await counts(suite('', 'tests="1" failures="2"')), [0, 2, 0, 0])
})

test('`status` and `result` say that a test failed, as their writers mean them', async () => {
  const one = (attributes: string) => counts(suite(`<testcase name="a" ${attributes}/>`))
  for (const status of ['status="failed"', 'result="failed"', 'status="FAIL"', 'result="failure"'])
    assert.deepEqual(await one(status), [0, 1, 0, 0], status)
  for (const status of ['status="error"', 'result="broken"']) assert.deepEqual(await one(status), [0, 0, 1, 0], status)
  for (const status of ['status="run" result="completed"', 'status="passed"', 'result="success"'])
    assert.deepEqual(await one(status), [1, 0, 0, 0], status)
})

test('a failure that a suite states and no case shows is a failed test under the name of the suite', async () => {
  const { passed, failed, failures, warnings } = await readWith(
    `<testsuites name="mocha" tests="2" failures="1">${suite('<testcase name="a"/><testcase name="b"/>', 'tests="2" failures="1"')}</testsuites>`,
  )
  assert.deepEqual([passed, failed, warnings], [2, 1, []])
  const message = 'The suite states 1 failures and errors, and its test cases show 0.'
  assert.deepEqual(failures, [{ suite: 's', name: 's', message }])
  const inSuites = suite(suite('<testcase name="a"><failure/></testcase>', 'failures="1"'), 'failures="3"')
  assert.deepEqual(await counts(inSuites), [0, 1, 0, 0])
  const skipped = '<testcase name="a"><failure/><skipped/></testcase>'
  assert.deepEqual(await counts(suite(skipped, 'failures="1"')), [0, 0, 0, 1])
  const both = '<testcase name="a"><failure/><error/></testcase>'
  assert.deepEqual(await counts(suite(both, 'failures="1" errors="1"')), [0, 1, 0, 0])
})

test('other differences between a suite and its cases are one warning a file', async () => {
  const differing = suite('<testcase/>', 'tests="2"')
  const warningsOf = async (content: string) => (await readWith(content)).warnings
  assert.deepEqual(await warningsOf(differing), [' the suite "s" states 2 tests and lists 1'])
  assert.deepEqual(await warningsOf(`<testsuites>${differing.repeat(3)}</testsuites>`), [
    ' the suite "s" states 2 tests and lists 1; 2 more of its suites differ',
  ])
  assert.deepEqual(await warningsOf(suite('<testcase><failure/></testcase>', 'tests="1" failures="0"')), [
    ' the suite "s" states 0 failed tests and lists 1',
  ])
  assert.deepEqual(await warningsOf(suite('<testcase/>')), [])
})

/** What ctest 3.25 wrote for the tests of its name, shortened. */
const CTEST = (cases: string) =>
  `<testsuite name="(empty)" tests="1" failures="0" disabled="0" skipped="1" hostname="" time="0">${cases}</testsuite>`

test('a test that ctest could not run is an error, unless it skipped itself', async () => {
  const one = (inner: string, status = 'notrun') =>
    counts(CTEST(`<testcase name="a" status="${status}">${inner}</testcase>`))
  assert.deepEqual(await one('<skipped message="Unable to find executable"/>'), [0, 0, 1, 0])
  assert.deepEqual(await one('<skipped message="Fixture dependency failed"/>'), [0, 0, 1, 0])
  assert.deepEqual(await one('<skipped message="SKIP_RETURN_CODE=77"/>'), [0, 0, 0, 1])
  assert.deepEqual(await one('', 'disabled'), [0, 0, 0, 1])
  assert.deepEqual(await one('<failure message=""/>', 'fail'), [0, 1, 0, 0])
  assert.deepEqual(await one(''), [0, 0, 1, 0])
  const googleTest = '<testcase name="a" status="notrun" result="suppressed"/>'
  assert.deepEqual(
    await counts(suite(googleTest, 'tests="1" failures="0" disabled="1" skipped="0" errors="0"')),
    [0, 0, 0, 1],
  )
})

const flaky = async (content: string, retries?: Retries) => {
  const { passed, failed, errors, flaky: count, flakyTests } = await readWith(content, retries)
  return [passed, failed, errors, count, flakyTests.map(({ name }) => name)]
}

test('a test that passed after a failed try is flaky, where the file states its tries', async () => {
  const surefire = suite('<testcase name="a"><flakyFailure/><flakyFailure/><flakyError/></testcase>')
  assert.deepEqual(await flaky(surefire), [1, 0, 0, 1, ['a']])
  assert.deepEqual(await flaky(surefire, 'count'), [1, 2, 1, 0, []])
  const pytest = suite(
    '<testcase name="a"><rerun message="m"/></testcase><testcase name="b"><rerun/><failure/></testcase>',
  )
  assert.deepEqual(await flaky(pytest), [1, 1, 0, 1, ['a']])
  const firebase = suite(
    '<testcase name="a" flaky="true"><failure/></testcase><testcase name="b" flaky="false"><failure/></testcase>',
  )
  assert.deepEqual(await flaky(firebase), [1, 1, 0, 1, ['a']])
  assert.deepEqual(await flaky(firebase, 'count'), [0, 2, 0, 0, []])
})

const gradle = (cases: string, name = 'C') =>
  `<testsuite name="C" timestamp="2026-01-01T00:00:00" hostname="h">${cases.replaceAll('<testcase', `<testcase classname="${name}"`)}</testsuite>`
const failing = '<testcase name="a"><failure/></testcase>'
const passing = '<testcase name="a"/>'

test('equal cases of a suite of Gradle are tries of one test, if all but the last failed', async () => {
  assert.deepEqual(await flaky(gradle(failing + failing + passing)), [1, 0, 0, 1, ['a']])
  assert.deepEqual(await flaky(gradle(failing + failing)), [0, 1, 0, 0, []])
  for (const cases of [passing + failing, failing + passing + passing, passing + failing + passing])
    assert.deepEqual(await flaky(gradle(cases)), [cases.split('"a"/>').length - 1, 1, 0, 0, []])
  assert.deepEqual(await flaky(gradle(failing + passing, 'D')), [1, 1, 0, 0, []])
  assert.deepEqual(await flaky(gradle(failing + passing), 'count'), [1, 1, 0, 0, []])
  const two = `<testsuites>${gradle(failing)}${gradle(passing)}</testsuites>`
  assert.deepEqual(await flaky(two), [1, 1, 0, 0, []])
})

test('elsewhere equal cases count each, unless the caller says that they are tries', async () => {
  assert.deepEqual(await flaky(suite(failing + passing)), [1, 1, 0, 0, []])
  assert.deepEqual(await flaky(suite(failing + passing), 'merge'), [1, 0, 0, 1, ['a']])
  const again = `<testsuites>${suite(failing)}${suite(passing)}</testsuites>`
  assert.deepEqual(await flaky(again, 'merge'), [1, 0, 0, 1, ['a']])
  assert.deepEqual(await flaky(suite(passing + failing), 'merge'), [1, 1, 0, 0, []])
  const [first, second] = [writeReport(suite(failing)), writeReport(suite(passing))]
  const { passed, failed } = await readJunit([first, second], 'merge', [])
  assert.deepEqual([passed, failed], [1, 1])
})

test('a warning of PHPUnit is no failure, and is said', async () => {
  const { passed, failed, warnings } = await readWith(
    suite('<testcase name="a"><warning>No tests found</warning></testcase>'),
  )
  assert.deepEqual([passed, failed, warnings], [1, 0, [' 1 of the passed tests have a warning']])
})

test('an `&` that begins no reference is text, and hides no test', async () => {
  const { passed, failed, failures, warnings } = await readWith(`<testsuite name="s">
  <testcase name="a"><system-out>GET /basket?a=1&b=2</system-out></testcase>
  <testcase name="b"><failure message="x && y">at &nbsp;</failure><system-out>status &lt;500&gt;</system-out></testcase>
</testsuite>`)
  assert.deepEqual([passed, failed], [1, 1])
  assert.equal(failures[0]?.message, 'x && y')
  assert.deepEqual(warnings, [
    '2: 4 `&` begin no reference of XML and were read as text, also in line 3; write `&amp;`',
  ])
})

test('names of references in capitals are text, and refuse no file', async () => {
  const { failures, warnings } = await readWith(
    suite('<testcase name="&AMP;"><failure message="&#X41;&LT;"/></testcase>'),
  )
  assert.deepEqual(failures, [{ suite: 's', name: '&AMP;', message: '&#X41;&LT;' }])
  assert.match(warnings.join(), /3 `&` begin no reference/)
})

test('`&` in CDATA, comments and document types is left as it is', async () => {
  const declared = '<!DOCTYPE t [<!-- "it\'s & --><!ENTITY a "x & > y">]>'
  const inside = "<!-- a & b --><failure message='\"<!--&lt;'><![CDATA[a && b]]></failure><!-- c & d -->"
  const { failures, warnings } = await readWith(`${declared}${suite(`<testcase name="a">${inside}</testcase>`)}`)
  assert.deepEqual(failures, [{ suite: 's', name: 'a', message: '"!--<' }])
  assert.deepEqual(warnings, [])
})

test('references are read in whatever pieces the file arrives', async () => {
  const word = fc.constantFrom(
    '&',
    '&amp;',
    '&lt;',
    '&b=',
    ';',
    'x',
    '<![CDATA[&]]>',
    '<!-- & -->',
    '&#65;',
    '&#x41;',
    '&nbsp;',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (words, size) => {
      const text = words.join('')
      const repair = new ReferenceRepair()
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      const whole = new ReferenceRepair()
      assert.equal(pieces.map((piece) => repair.write(piece)).join('') + repair.end(), whole.write(text) + whole.end())
      return Promise.resolve()
    }),
  )
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
  const one = (time: string) => seconds(suite(`<testcase time="${time}"/>`))
  assert.equal(await one('1.234,5'), 1234.5)
  assert.equal(await one('1,234'), 1234)
  assert.equal(await one('1,234,567'), 1_234_567)
  assert.equal(await one('0,123'), 0.123)
  assert.equal(await one('1234,567'), 1234.567)
  assert.equal(await one('1.234'), 1.234)
  assert.equal(await one('1.234.567'), 1_234_567)
  assert.equal(await one('1.234.567,8'), 1_234_567.8)
  assert.equal(await one('1e-3'), 0.001)
  assert.equal(await one('PT1M2.5S'), 62.5)
  assert.equal(await one('P1DT1H'), 90_000)
  for (const unreadable of ['PT', 'P', '12:30', '1 s', '-PT1S', 'Infinity']) assert.equal(await one(unreadable), 0)
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
  await assert.rejects(readJunit([file], 'stated', []), { message: `${file.path}: the file cannot be read (ENOENT)` })
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

/** Small files of real kinds, with [passed, failed, errors, skipped] and what is said of them. */
const CASES: [rule: string, content: string, figures: number[], warning?: RegExp][] = [
  [
    'a raw & hides no failure',
    suite('<testcase name="c"><failure message="m">a & b</failure></testcase>', 'tests="1" failures="1"'),
    [0, 1, 0, 0],
    /^1: an `&` begins no reference/,
  ],
  [
    'two raw & hide no failure and no case after them',
    suite('<testcase name="c"><failure message="m">a && b</failure></testcase><testcase name="z &lt; y"/>'),
    [1, 1, 0, 0],
    /^1: 2 `&` begin no reference/,
  ],
  [
    'ctest: skipped and disabled tests did not run',
    suite(
      `<testcase name="a" status="run"/><testcase name="b" status="fail"><failure message=""/></testcase>
      <testcase name="c" status="notrun"><skipped message="SKIP"/></testcase><testcase name="d" status="disabled"/>`,
      'tests="4" failures="1" disabled="1" skipped="1"',
    ),
    [1, 1, 0, 2],
  ],
  ['skipped beside a failure is skipped', suite('<testcase name="a"><failure/><skipped/></testcase>'), [0, 0, 0, 1]],
  [
    'a status of failure without an element is a failure',
    suite('<testcase name="a" status="passed"/><testcase name="b" status="failed"/>', 'tests="2" failures="1"'),
    [1, 1, 0, 0],
  ],
  [
    'a failure that a suite states and no case shows is a failure',
    `<testsuites tests="2" failures="1">${suite('<testcase name="a"/><testcase name="b"/>', 'failures="1"')}</testsuites>`,
    [2, 1, 0, 0],
  ],
  [
    'Gradle: of two tries of one case, the last counts',
    `<testsuite name="B" tests="3" failures="1" timestamp="2026-01-01T00:00:00" hostname="h">
      <testcase name="adds()" classname="B"><failure message="x"/></testcase><testcase name="adds()" classname="B"/>
      <testcase name="removes()" classname="B"/></testsuite>`,
    [2, 0, 0, 0],
  ],
]

for (const [rule, content, figures, warning = /^$/] of CASES)
  test(rule, async () => {
    const { passed, failed, errors, skipped, warnings } = await read(content)
    assert.deepEqual([passed, failed, errors, skipped], figures)
    assert.match(warnings.join('\n'), warning)
  })
