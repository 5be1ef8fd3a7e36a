import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AttestationStatus, computeStatus, type ReportFigures } from './attestation.ts'
import { API_RULES, findDataMistake, INGEST_RULES } from './read-attestations.ts'

type Derived = 'test-results' | 'coverage' | 'sbom' | 'scan'

const tests = (passed: number, failed: number, skipped: number, errors: number) => ({ passed, failed, skipped, errors })
type ScanCounts = [critical: number, high: number, medium: number, low: number]

function scan([critical, high, medium, low]: ScanCounts, failOn?: string) {
  return { tool: 'scanner', critical, high, medium, low, ...(failOn === undefined ? {} : { failOn }) }
}

/** The rules of decisions §6, one case a line. */
const STATUSES: [kind: Derived, data: object, status: AttestationStatus, why: string][] = [
  ['test-results', tests(3, 0, 0, 0), 'pass', 'all passed'],
  ['test-results', tests(1, 0, 9, 0), 'pass', 'one passed, the others were skipped'],
  ['test-results', tests(3, 1, 0, 0), 'fail', 'one failed'],
  ['test-results', tests(3, 0, 0, 1), 'fail', 'one broke off'],
  ['test-results', tests(0, 1, 0, 0), 'fail', 'the only one failed'],
  ['test-results', tests(0, 0, 0, 0), 'info', 'nothing ran'],
  ['test-results', tests(0, 0, 5, 0), 'info', 'everything was skipped'],
  ['coverage', { lines: 80, threshold: 80 }, 'pass', 'exactly at the threshold'],
  ['coverage', { lines: 80.1, threshold: 80 }, 'pass', 'above it'],
  ['coverage', { lines: 79.99, threshold: 80 }, 'fail', 'below it'],
  ['coverage', { lines: 0, threshold: 0 }, 'pass', 'a threshold of zero is one'],
  ['coverage', { lines: 12 }, 'info', 'without a threshold'],
  ['sbom', { format: 'spdx', components: 0 }, 'info', 'always'],
  ['sbom', { format: 'spdx', components: 9, artifact: 'bom.json' }, 'info', 'until its file was read'],
  ['scan', scan([0, 0, 0, 0]), 'pass', 'nothing found'],
  ['scan', scan([0, 0, 5, 5]), 'pass', 'nothing at or above high, the default'],
  ['scan', scan([0, 1, 0, 0]), 'fail', 'high by default'],
  ['scan', scan([1, 0, 0, 0]), 'fail', 'critical by default'],
  ['scan', scan([0, 9, 9, 9], 'critical'), 'pass', 'nothing critical'],
  ['scan', scan([1, 0, 0, 0], 'critical'), 'fail', 'one critical'],
  ['scan', scan([0, 9, 0, 0], 'high'), 'fail', 'high said'],
  ['scan', scan([0, 0, 1, 0], 'medium'), 'fail', 'medium said'],
  ['scan', scan([0, 0, 0, 1], 'medium'), 'pass', 'low is below medium'],
  ['scan', scan([0, 0, 0, 1], 'low'), 'fail', 'low said'],
]

for (const [kind, data, status, why] of STATUSES) {
  test(`${kind} is ${status}: ${why}`, () => {
    assert.equal(findDataMistake(kind, data, API_RULES), null)
    assert.equal(computeStatus(kind, data), status)
  })
}

/** Data of each kind with every known field. The list names the required ones. */
const FULL: Record<Derived, [required: string[], data: Record<string, unknown>]> = {
  'test-results': [
    ['passed', 'failed', 'skipped', 'errors'],
    { ...tests(1, 1, 1, 1), durationSeconds: 1.5, failures: [{ name: 'a' }, 'b'] },
  ],
  coverage: [['lines'], { lines: 50, threshold: 40 }],
  sbom: [['format', 'components'], { format: 'cyclonedx', components: 3, artifact: 'bom.json' }],
  scan: [
    ['tool', 'critical', 'high', 'medium', 'low'],
    { ...scan([0, 0, 0, 0], 'low'), artifact: 'a.sarif', format: 'sarif' },
  ],
}

for (const [kind, [required, data]] of Object.entries(FULL) as [Derived, (typeof FULL)[Derived]][]) {
  test(`${kind} accepts every known field, and unknown ones`, () => {
    assert.equal(findDataMistake(kind, data, API_RULES), null)
    assert.equal(findDataMistake(kind, { ...data, ours: { anything: [1] } }, API_RULES), null)
  })

  test(`${kind} without ${required.join(', without ')} is an error with a pointer to the field`, () => {
    for (const name of required) {
      const { [name]: _, ...rest } = data
      assert.deepEqual(findDataMistake(kind, rest, API_RULES)?.path, `/${name}`)
      assert.match(findDataMistake(kind, rest, API_RULES)?.message ?? '', /required/)
    }
  })

  test(`${kind} with a field of the wrong type is an error with a pointer to the field`, () => {
    for (const name of Object.keys(data)) {
      assert.equal(findDataMistake(kind, { ...data, [name]: { not: 'this' } }, API_RULES)?.path, `/${name}`, name)
      assert.equal(findDataMistake(kind, { ...data, [name]: null }, API_RULES)?.path, `/${name}`, name)
    }
  })
}

const BAD_FIGURES: [kind: Derived, change: Record<string, unknown>][] = [
  ['test-results', { passed: -1 }],
  ['test-results', { failed: 1.5 }],
  ['test-results', { errors: '0' }],
  ['test-results', { durationSeconds: -1 }],
  ['coverage', { lines: 101 }],
  ['coverage', { lines: -1 }],
  ['coverage', { threshold: 101 }],
  ['sbom', { components: -1 }],
  ['sbom', { format: '' }],
  ['scan', { failOn: 'info' }],
  ['scan', { failOn: 'HIGH' }],
  ['scan', { tool: '' }],
  ['scan', { low: Number.POSITIVE_INFINITY }],
]

for (const [kind, change] of BAD_FIGURES) {
  test(`${kind} with ${JSON.stringify(change)} is an error with a pointer to the field`, () => {
    assert.equal(findDataMistake(kind, { ...FULL[kind][1], ...change }, API_RULES)?.path, `/${Object.keys(change)[0]}`)
  })
}

test('data may have 64 KiB, counted in bytes and not in characters', () => {
  const wrapper = Buffer.byteLength(JSON.stringify({ text: '' }))
  const fits = { text: 'x'.repeat(65_536 - wrapper) }
  assert.equal(findDataMistake('custom', fits, API_RULES), null)
  assert.match(findDataMistake('custom', { text: `${fits.text}x` }, API_RULES)?.message ?? '', /65536 bytes/)
  assert.match(findDataMistake('custom', { text: 'é'.repeat(40_000) }, API_RULES)?.message ?? '', /65536 bytes/)
})

test('data may be nested 64 levels deep; deeper data must not overflow the stack', () => {
  const nested = (levels: number) => {
    const root: { inner?: object } = {}
    let deepest = root
    for (let level = 1; level < levels; level += 1) {
      const inner = {}
      deepest.inner = inner
      deepest = inner
    }
    return root
  }
  assert.equal(findDataMistake('custom', nested(64), API_RULES), null)
  assert.match(findDataMistake('custom', nested(65), API_RULES)?.message ?? '', /64 levels/)
  assert.match(findDataMistake('custom', nested(1_000_000), API_RULES)?.message ?? '', /64 levels/)
})

const FROM_FILE: [kind: 'scan' | 'sbom', data: object][] = [
  ['scan', { artifact: 'a.sarif' }],
  ['scan', { artifact: 'a.json', format: 'grype-json', tool: 'grype' }],
  ['scan', { artifact: 'a.sarif', critical: 0, high: 1 }],
  ['sbom', { artifact: 'bom.json' }],
  ['sbom', { artifact: 'bom.json', format: 'spdx' }],
]

for (const [kind, data] of FROM_FILE) {
  test(`only the ingest routes accept ${kind} ${JSON.stringify(data)}, which is info until its file is read`, () => {
    assert.notEqual(findDataMistake(kind, data, API_RULES), null)
    assert.equal(findDataMistake(kind, data, INGEST_RULES), null)
    assert.equal(computeStatus(kind, data), 'info')
  })
}

test('the figures are required on the ingest routes, too, when no artifact is named', () => {
  assert.equal(findDataMistake('scan', { tool: 'x' }, INGEST_RULES)?.path, '/critical')
  assert.equal(findDataMistake('sbom', { format: 'spdx' }, INGEST_RULES)?.path, '/components')
})

const READ: ReportFigures = {
  format: 'sarif',
  findings: 3,
  components: 0,
  openBySeverity: { critical: 0, high: 0, medium: 2, low: 1 },
}

test('the counts of a scan come from its file where the job sent none', () => {
  assert.equal(computeStatus('scan', { artifact: 'a' }, READ), 'pass')
  assert.equal(computeStatus('scan', { artifact: 'a', failOn: 'medium' }, READ), 'fail')
  assert.equal(computeStatus('scan', { artifact: 'a', failOn: 'medium', medium: 0 }, READ), 'pass')
  assert.equal(computeStatus('scan', { ...scan([0, 0, 0, 0], 'medium'), artifact: 'a' }, READ), 'pass')
})

test('ownership is info until its file is read, then pass, warn without rules, or fail', () => {
  const data = { format: 'codeowners', artifact: 'CODEOWNERS' }
  assert.equal(findDataMistake('ownership', data, INGEST_RULES), null)
  assert.equal(computeStatus('ownership', data), 'info')
  assert.equal(computeStatus('ownership', data, { format: 'codeowners', rules: 2, error: null }), 'pass')
  assert.equal(computeStatus('ownership', data, { format: 'codeowners', rules: 0, error: null }), 'warn')
  assert.equal(computeStatus('ownership', data, { format: 'codeowners', rules: 0, error: 'x' }), 'fail')
})

const REFUSED_BY_INGEST: [path: string, kind: 'ownership' | 'test-results', data: object][] = [
  ['/format', 'ownership', { artifact: 'CODEOWNERS' }],
  ['/format', 'ownership', { format: 'yaml', artifact: 'CODEOWNERS' }],
  ['/artifact', 'ownership', { format: 'json' }],
  ['/failures', 'test-results', { ...tests(1, 51, 0, 0), failures: Array.from({ length: 51 }, () => ({ name: 'a' })) }],
  ['/failures/0/name', 'test-results', { ...tests(1, 1, 0, 0), failures: [{ suite: null, message: null }] }],
  ['/failures/0/message', 'test-results', { ...tests(1, 1, 0, 0), failures: [{ name: 'a', message: 5 }] }],
]

for (const [path, kind, data] of REFUSED_BY_INGEST) {
  test(`the ingest routes refuse ${kind} with a mistake in ${path}`, () => {
    assert.equal(findDataMistake(kind, data, INGEST_RULES)?.path, path)
  })
}

test('the ingest routes accept data of 256 KiB', () => {
  const wrapper = Buffer.byteLength(JSON.stringify({ text: '' }))
  const fits = { text: 'x'.repeat(262_144 - wrapper) }
  assert.equal(findDataMistake('custom', fits, INGEST_RULES), null)
  assert.match(findDataMistake('custom', { text: `${fits.text}x` }, INGEST_RULES)?.message ?? '', /262144 bytes/)
})
