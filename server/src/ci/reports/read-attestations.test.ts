import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../platform/http/api-error.ts'
import { API_RULES, INGEST_RULES, readAttestations } from './read-attestations.ts'
import type { AttestationItem } from './report.schema.ts'

const NOW = new Date('2026-03-04T05:06:07Z')
const COVERAGE: AttestationItem = { kind: 'coverage', name: 'unit', data: { lines: 90, threshold: 80 } }
const CUSTOM: AttestationItem = { kind: 'custom', name: 'licences', status: 'warn', data: {} }

const read = (...items: AttestationItem[]) => readAttestations(items, API_RULES, NOW)

function refusal(...items: AttestationItem[]): ApiError {
  try {
    read(...items)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  assert.fail('nothing was refused')
}

function placeOf({ code, status, details }: ApiError): unknown {
  assert.deepEqual([status, code], [400, 'invalid_request'])
  return (details.errors as { path: string }[]).map(({ path }) => path)
}

test('each item becomes a row in the order of the request, with its own id and its data as sent', () => {
  const { rows, warnings } = read(COVERAGE, CUSTOM)
  assert.deepEqual(
    rows.map(({ id: _, ...row }) => row),
    [
      { ...COVERAGE, status: 'pass' },
      { ...CUSTOM, status: 'warn' },
    ],
  )
  assert.equal(new Set(rows.map(({ id }) => id)).size, 2)
  assert.deepEqual(warnings, [])
})

for (const kind of ['provenance', 'ownership']) {
  test(`kind_not_allowed for ${kind}, at any position`, () => {
    const { status, code, details } = refusal(COVERAGE, { kind, name: 'x', data: {} })
    assert.deepEqual([status, code, details], [400, 'kind_not_allowed', { kind }])
  })
}

for (const kind of ['test_results', 'Provenance', 'toString', '__proto__', ' scan']) {
  test(`invalid_request with a pointer to the kind for ${kind}`, () => {
    assert.deepEqual(placeOf(refusal(COVERAGE, { kind, name: 'x', data: {} })), ['/body/attestations/1/kind'])
  })
}

test('the same kind and name twice is an error; the same name for two kinds is not', () => {
  assert.deepEqual(placeOf(refusal(COVERAGE, CUSTOM, COVERAGE)), ['/body/attestations/2/name'])
  assert.equal(read(COVERAGE, { ...CUSTOM, name: COVERAGE.name }).rows.length, 2)
})

test('a missing field is named by its pointer in the body', () => {
  const item = { ...COVERAGE, data: { threshold: 80 } }
  assert.deepEqual(placeOf(refusal(CUSTOM, item)), ['/body/attestations/1/data/lines'])
})

test('custom requires a status, beside the data or inside it', () => {
  const { status: _, ...silent } = CUSTOM
  assert.deepEqual(placeOf(refusal(silent)), ['/body/attestations/0/status'])
  assert.deepEqual(placeOf(refusal({ ...silent, data: { status: 'great' } })), ['/body/attestations/0/status'])
  for (const status of ['pass', 'fail', 'warn', 'info'] as const) {
    assert.equal(read({ ...silent, status }).rows[0]?.status, status)
    assert.equal(read({ ...silent, data: { status } }).rows[0]?.status, status)
  }
})

test('a status that differs from the derived one is ignored with a warning', () => {
  const { rows, warnings } = read({ ...COVERAGE, status: 'fail' })
  assert.equal(rows[0]?.status, 'pass')
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /coverage "unit".*pass, not fail/)
  assert.deepEqual(read({ ...COVERAGE, status: 'pass' }).warnings, [])
})

test('the ingest routes accept ownership and provenance; provenance keeps the sent status, info by default', () => {
  const ownership = { kind: 'ownership', name: 'owners', data: { format: 'json', artifact: 'owners.json' } }
  const provenance = { kind: 'provenance', name: 'slsa', data: { anything: true } }
  const { rows } = readAttestations([ownership, provenance], INGEST_RULES, NOW)
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['info', 'info'],
  )
  assert.equal(readAttestations([{ ...provenance, status: 'pass' }], INGEST_RULES, NOW).rows[0]?.status, 'pass')
})
