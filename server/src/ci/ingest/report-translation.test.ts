import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IngestedReport } from './ingest.schema.ts'
import { readMatrix, toReport } from './report-translation.ts'

const EMPTY: IngestedReport = { version: 1, job: {} }
const FILE = { path: 'CODEOWNERS', size: 10, sha256: 'a'.repeat(64) }
const translated = (body: Partial<IngestedReport>) => toReport({ ...EMPTY, ...body })

test('fields that are null or absent are the defaults of the API', () => {
  const expected = { job: { name: 'default' }, name: 'default', attestations: [], artifacts: [] }
  const nulls = { name: null, summary: null, attestations: null, artifacts: null }
  for (const body of [{}, { ...nulls, job: { name: null, matrix: null, runner: null } }]) {
    const { report, warnings } = translated(body)
    const { rules: _, ...fields } = report
    assert.deepEqual([fields, warnings], [expected, []])
  }
})

test('fields that the server does not know are left out', () => {
  const artifact = { ...FILE, contentType: 'text/plain', next: 1 }
  const { report } = translated({ artifacts: [artifact], job: { name: 'a', next: 1 } as IngestedReport['job'] })
  assert.deepEqual([report.artifacts, report.job], [[FILE], { name: 'a' }])
})

test('null fields of data are left out, except in data without a shape', () => {
  const data = { lines: 90, threshold: null }
  const items = ['coverage', 'custom'].map((kind) => ({ kind, name: 'x', data, status: null }))
  assert.deepEqual(
    translated({ attestations: items }).report.attestations.map((item) => item.data),
    [{ lines: 90 }, data],
  )
})

test('messages are cut to the same length when data is larger than 256 KiB, with a warning', () => {
  const failures = [
    { suite: null, name: 'short', message: 'short' },
    ...Array.from({ length: 9 }, (_, index) => ({ suite: 's', name: `${index}`, message: '🚀é\n'.repeat(20_000) })),
  ]
  const item = { kind: 'test-results', name: 'unit', data: { passed: 0, failed: 10, skipped: 0, errors: 0, failures } }
  const { report, warnings } = translated({ attestations: [item] })
  const [cut] = report.attestations.map(({ data }) => data as typeof item.data)
  const bytes = Buffer.byteLength(JSON.stringify(cut))
  assert.ok(bytes <= 262_144 && bytes > 262_000, `${bytes}`)
  assert.equal(cut?.failures[0]?.message, 'short')
  assert.ok(cut?.failures.slice(1).every(({ message }) => message.endsWith('…') && message.isWellFormed()))
  assert.match(warnings.join(), /test-results "unit" were cut/)
})

test('data that is too large without any message stays as it is', () => {
  const data = { text: 'x'.repeat(300_000), message: 'y' }
  const { report, warnings } = translated({ attestations: [{ kind: 'custom', name: 'x', status: 'info', data }] })
  assert.deepEqual([report.attestations[0]?.data, warnings], [data, []])
})

test('a warning names a file that is not an artifact of the report, and an ownership file that is too large', () => {
  const owners = { kind: 'ownership', name: 'owners', data: { format: 'codeowners', artifact: 'CODEOWNERS' } }
  const about = (artifacts: (typeof FILE)[]) => translated({ attestations: [owners], artifacts }).warnings
  assert.deepEqual(about([FILE]), [])
  assert.match(about([]).join(), /names "CODEOWNERS", which is not an artifact/)
  assert.match(about([{ ...FILE, size: 262_145 }]).join(), /larger than 256 KiB/)
})

const READ: [sent: unknown, matrix: unknown][] = [
  [undefined, null],
  [null, null],
  ['null', null],
  ['', null],
  [' ', null],
  [
    { os: 'linux', node: 24 },
    { os: 'linux', node: 24 },
  ],
  ['{"os":"linux","node":24}', { os: 'linux', node: 24 }],
  [
    { include: [{ a: 1 }], deep: { b: null } },
    { include: [{ a: 1 }], deep: { b: null } },
  ],
  [['a', 'b'], { value: ['a', 'b'] }],
  ['["a","b"]', { value: ['a', 'b'] }],
  [3, { value: 3 }],
  ['3', { value: 3 }],
  [false, { value: false }],
  ['linux', { value: 'linux' }],
  ['{os: linux}', { value: '{os: linux}' }],
  ['{"a":"\\u0000"}', { a: '\ufffd' }],
]

for (const [sent, matrix] of READ) {
  test(`the matrix ${JSON.stringify(sent)} is ${JSON.stringify(matrix)}`, () => {
    assert.deepEqual(readMatrix(sent), matrix)
  })
}

const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, index]))
const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const REFUSED: [why: string, sent: unknown, message: RegExp][] = [
  ['21 keys', many, /20 keys/],
  ['21 keys in a text', JSON.stringify(many), /20 keys/],
  ['a key of 101 characters', { ['x'.repeat(101)]: 1 }, /100 characters/],
  ['a text of 501 characters', { os: 'x'.repeat(501) }, /500 characters/],
  ['more than 16 KiB', { list: Array.from({ length: 20_000 }, () => 1) }, /16384 bytes/],
  ['a text with deep nesting', nested, /nested/],
]

for (const [why, sent, message] of REFUSED) {
  test(`400 invalid_request for a matrix with ${why}`, () => {
    assert.throws(() => readMatrix(sent), { status: 400, code: 'invalid_request', message })
  })
}
