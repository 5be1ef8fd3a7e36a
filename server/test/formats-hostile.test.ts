import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { hostileReports } from './support/hostile-reports.ts'

const PROGRAM = new URL('./support/read-hostile-reports.ts', import.meta.url).pathname
/** The size of V8's heap in MiB. The program needs about 10; the largest report has 100 MB. */
const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=8']
/** Of processor time: the slowest report takes three on an idle machine. */
const SECONDS_MAX = 15

/** Readable documents without statements about vulnerabilities. */
const HARMLESS = [
  'spdx 2: 100 MB in one string',
  'spdx 2: 100 MB in one name',
  'spdx 2: a million empty objects',
  'spdx 2: a member a million times',
  'spdx 2: a number of ten million digits',
  'spdx 2: backslashes only',
  'csaf products: 100 MB in one string',
  'csaf products: 100 MB in one name',
  'csaf products: a million empty objects',
  'csaf products: a million nulls',
  'csaf products: a member a million times',
  'csaf products: a number of ten million digits',
  'csaf products: backslashes only',
  'spdx 3: a million empty objects',
]

test('hostile files are read or refused, within seconds and little memory', {
  timeout: 240_000,
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...MEMORY, PROGRAM])
  const ends = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    ends.map(({ name }) => name),
    hostileReports().map(({ name }) => name),
  )
  for (const end of ends) assert.ok(end.seconds < SECONDS_MAX, JSON.stringify(end))
  const refused = ends.filter(({ error }) => error === 'ReportError')
  const read = ends.filter(({ error }) => error === undefined)
  assert.equal(refused.length + read.length, ends.length)
  assert.deepEqual(
    read.map(({ name }) => name),
    HARMLESS,
  )
  const reasonOf = (name: string) => refused.find((end) => end.name === name)?.reason
  assert.match(reasonOf('sarif: 200,000 nested brackets'), /nested too deeply/)
  assert.match(reasonOf('sarif: 100 MB in one string'), /Result 1 of run 1 is too large\.$/)
  assert.match(reasonOf('sarif: a million empty objects'), /^None of the results could be read \(1000001 skipped\)\. /)
  assert.match(reasonOf('cyclonedx: 100 MB in one string'), /Vulnerability 1 is too large\.$/)
  assert.match(reasonOf('spdx 2: NUL bytes'), /Unexpected byte 0x00/)
})
