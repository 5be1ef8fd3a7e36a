import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { readCoverage } from '../src/coverage/coverage.ts'
import { percentOf } from '../src/coverage/line-coverage.ts'
import { FIXTURES, fileAt, writeReport } from './support/report-file.ts'

async function read(content: string) {
  const { lines, format } = await readCoverage(writeReport(content))
  return { lines, format }
}
const warningsOf = async (content: string) =>
  (await readCoverage(writeReport(content))).warnings.map((warning) => warning.replace(/^.*report-\d+:/, ''))
const linesOf = async (content: string) => (await read(content)).lines

const expected = JSON.parse(readFileSync(`${FIXTURES}expected.json`, 'utf8')).coverage as Record<string, number>
for (const [file, lines] of Object.entries(expected)) {
  test(`${file} has the coverage that another program counted`, async () => {
    const format = file.split(/[-.]/)[0]
    assert.deepEqual(await readCoverage(fileAt(`${FIXTURES}coverage/${file}`)), { lines, format, warnings: [] })
  })
}

test('a percentage has two decimals and is never rounded up to a whole percent', () => {
  const percent = (covered: number, total: number) => percentOf({ covered, total })
  assert.equal(percent(2, 3), 66.67)
  assert.equal(percent(1, 3), 33.33)
  assert.equal(percent(7, 100), 7)
  assert.equal(percent(79_999, 100_000), 79.99)
  assert.equal(percent(999_999, 1_000_000), 99.99)
  assert.equal(percent(1, 1_000_000), 0)
  assert.equal(percent(80_001, 100_000), 80)
  assert.equal(percent(5, 5), 100)
  assert.equal(percent(6, 5), 100)
})

test('without lines, nothing is covered', async () => {
  assert.equal(await linesOf('TN:\nSF:a.c\nend_of_record\n'), 0)
  assert.equal(await linesOf('<coverage line-rate="1" lines-covered="0" lines-valid="0"><packages/></coverage>'), 0)
  assert.equal(await linesOf('<report name="empty"/>'), 0)
  const metrics = '<metrics statements="0" coveredstatements="0"/>'
  assert.equal(await linesOf(`<coverage generated="1"><project>${metrics}</project></coverage>`), 0)
})

test('lcov: a line that several records list counts once', async () => {
  const record = (lines: string) => `TN:t\nSF:src/a.c\nFN:1,main\n${lines}LF:9\nLH:9\nend_of_record\n`
  assert.equal(await linesOf(record('DA:1,0\nDA:2,0\n') + record('DA:2,5,checksum\nDA:3,-1\nDA:4,=====\n')), 25)
  assert.equal(await linesOf('SF:a\r\nDA:1,1\r\nDA:2,0\r\nend_of_record\r\nSF:b\nLF:8\nLH:4\nend_of_record\nEOF'), 50)
  assert.equal(await linesOf('SF:a\nDA:7,1\nDA:4000000000,0\nDA:300,1\nDA:556,1\nend_of_record'), 75)
})

test('lcov: lines that are no lines are skipped with a warning, and negative hits are none', async () => {
  for (const line of ['0', '-1', 'undefined', '', 'x', '1.5', 'NaN']) {
    const report = `TN:\nSF:/src/a.js\nDA:${line},1\nDA:1,1\nDA:2,-1\nDA:${line},0\nend_of_record\n`
    assert.equal(await linesOf(report), 50, line)
    assert.deepEqual(await warningsOf(report), ['3: 2 entries were skipped, because lines have numbers from 1'])
  }
  assert.deepEqual(await warningsOf('SF:a\nDA:0,1\nend_of_record\n'), [
    '2: an entry was skipped, because lines have numbers from 1',
  ])
})

test('Cobertura: the totals of the report count, else its rate, else its lines', async () => {
  const line = (number: number, hits: number) => `<line number="${number}" hits="${hits}"/>`
  const classes = [
    `<class filename="a"><methods><method><lines>${line(9, 0)}</lines></method></methods>`,
    `<lines>${line(1, 1)}${line(2, 0)}</lines></class>`,
    `<class filename="a"><lines>${line(2, 3)}${line(3, 0)}</lines></class>`,
    `<class filename="b"><lines>${line(1, 1)}</lines></class>`,
  ].join('')
  const report = (attributes: string) =>
    `<coverage timestamp="1" ${attributes}><packages>${classes}</packages></coverage>`
  assert.equal(await linesOf(report('lines-covered="1" lines-valid="10" line-rate="0.5"')), 10)
  assert.equal(await linesOf(report('line-rate="0.555"')), 55.5)
  assert.equal(await linesOf(report('line-rate="0" lines-covered="0" lines-valid="0"')), 75)
  assert.equal(await linesOf(report('')), 75)
})

test('Cobertura: a report without lines covers nothing, whatever its rate, and says so', async () => {
  const empty = '<coverage line-rate="1" branch-rate="1" version="1" timestamp="1"><packages/></coverage>'
  assert.equal(await linesOf(empty), 0)
  assert.deepEqual(await warningsOf(empty), [' the report lists no lines, so its coverage is 0 %'])
})

test('Cobertura: the lines of methods count where their class has none of its own', async () => {
  const lines = (...hits: number[]) =>
    `<lines>${hits.map((hit, index) => `<line number="${index + 1}" hits="${hit}"/>`).join('')}</lines>`
  const classOf = (inner: string) => `<coverage timestamp="1"><class filename="a">${inner}</class></coverage>`
  const methods = `<methods><method name="m">${lines(1, 0, 0, 0)}</method></methods>`
  assert.equal(await linesOf(classOf(`${methods}<lines/>`)), 25)
  assert.equal(await linesOf(classOf(`${methods}${lines(1, 0)}`)), 50)
  assert.deepEqual(await warningsOf(classOf(`${methods}<lines/>`)), [])
})

test('JaCoCo: the counter of the report counts, else those of its outermost parts', async () => {
  const counter = (type: string, missed: number, covered: number) =>
    `<counter type="${type}" missed="${missed}" covered="${covered}"/>`
  const part = (name: string, missed: number, covered: number) =>
    `<package name="${name}"><class name="c">${counter('LINE', 50, 50)}</class>${counter('LINE', missed, covered)}</package>`
  const parts = part('a', 1, 3) + part('b', 3, 1)
  const report = (inner: string) =>
    `<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report>${inner}</report>`
  assert.equal(await linesOf(report(parts + counter('INSTRUCTION', 0, 9) + counter('LINE', 1, 9))), 90)
  assert.equal(await linesOf(report(parts)), 50)
  assert.equal(await linesOf(report(`<group name="g">${parts}${counter('LINE', 4, 1)}</group>`)), 20)
  await assert.rejects(read(report(counter('INSTRUCTION', 0, 9))), {
    message: /: the JaCoCo report has no LINE counters; compile the classes with debug information$/,
  })
})

test('Clover: the statements of the project count, without tests, else those of its files, else its lines', async () => {
  const metrics = (covered: number, statements: number) =>
    `<metrics elements="99" coveredelements="99" statements="${statements}" coveredstatements="${covered}"/>`
  const line = (num: number, type: string, count: number) => `<line num="${num}" type="${type}" count="${count}"/>`
  const lines = line(1, 'stmt', 2) + line(2, 'stmt', 0) + line(3, 'stmt', 0) + line(4, 'stmt', 0) + line(5, 'method', 0)
  const files = (inner: string) => `<package name="p"><file name="a">${inner}${lines}</file></package>`
  const report = (inner: string) =>
    `<coverage generated="1" clover="4"><project>${inner}</project><testproject>${metrics(0, 9)}</testproject></coverage>`
  assert.equal(await linesOf(report(metrics(3, 4) + files(metrics(1, 2)))), 75)
  assert.equal(await linesOf(report(files(metrics(1, 2)))), 50)
  assert.equal(await linesOf(report(files(''))), 25)
})

const WRONG: [what: string, content: string, message: RegExp][] = [
  ['an empty file', '', /: the file is empty$/],
  [
    'text',
    'coverage: 80%\n',
    /:1: expected a line of lcov such as `SF:src\/a\.c` or `DA:12,1`, found "coverage: 80%"$/,
  ],
  ['text after a comment', '# Title\n\nText\n', /:3: expected a line of lcov .*, found "Text"$/],
  ['only comments', '# Title\n', /expected lcov, found only comments$/],
  ['Istanbul JSON', '{"total":{}}', /expected a line of lcov/],
  ['a truncated tracefile', 'TN:\nSF:a.c\nDA:1,1\n', /:4: the file ends before the `end_of_record` of a\.c$/],
  ['a line without a file', 'TN:\nDA:1,1\n', /:2: expected a line of lcov/],
  ['other XML', '<project/>', /:1: expected lcov, Cobertura, JaCoCo or Clover, found <project>$/],
  ['JUnit', '<testsuites/>', /: the file is JUnit test results; use --junit$/],
  ['OpenCover', '<CoverageSession/>', /: the file is an OpenCover report; convert it to Cobertura/],
  ['the format of SonarQube', '<coverage version="1"><file/></coverage>', /found <coverage>: the file is neither/],
  ['NCover', '<coverage><module/></coverage>', /found <coverage> without <project>$/],
  ['truncated XML', '<report>\n<package>', /:2: the file ends before <\/package>$/],
]
for (const [what, content, message] of WRONG) {
  test(`${what} is refused with the file and the line`, async () => {
    await assert.rejects(read(content), { name: 'ReportFileError', message })
  })
}

/** Hits by file and line. */
const source = fc.array(
  fc.record({ file: fc.constantFrom('a', 'b', 'c'), line: fc.integer({ min: 1, max: 600 }), hits: fc.nat(2) }),
  { minLength: 1, maxLength: 200 },
)

test('random lines have the same coverage in lcov and Cobertura, and by a simple count', async () => {
  await fc.assert(
    fc.asyncProperty(source, async (entries) => {
      const hit = new Map<string, boolean>()
      for (const { file, line, hits } of entries) {
        hit.set(`${file}:${line}`, (hit.get(`${file}:${line}`) ?? false) || hits > 0)
      }
      const covered = [...hit.values()].filter(Boolean).length
      const lines = percentOf({ covered, total: hit.size })
      const records = entries.map(({ file, line, hits }) => `SF:${file}\nDA:${line},${hits}\nend_of_record\n`)
      assert.deepEqual(await read(records.join('')), { lines, format: 'lcov' })
      const classes = entries.map(
        ({ file, line, hits }) =>
          `<class filename="${file}"><lines><line number="${line}" hits="${hits}"/></lines></class>`,
      )
      assert.deepEqual(await read(`<coverage branch-rate="0">${classes.join('\n')}</coverage>`), {
        lines,
        format: 'cobertura',
      })
    }),
    { numRuns: 50 },
  )
})
