import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parsePolicyInput } from '../src/compliance/policies/policy-input.parser.ts'
import type { PolicyInput } from '../src/compliance/policies/policy-input.schema.ts'
import { decide } from '../src/compliance/policies/policy-verdict.ts'
import { definitionOf, verdictsOf } from './support/policies.ts'

const DIRECTORY = new URL('../../docs/policies/', import.meta.url)
const GOOD = parsePolicyInput(readFileSync(new URL('input.json', DIRECTORY), 'utf8'))

type Change = (input: PolicyInput) => Partial<PolicyInput>
type Attestations = PolicyInput['attestations']

const attestations =
  (change: (attestations: Attestations) => Attestations): Change =>
  (input) => ({ attestations: change(input.attestations) })
const without = (kind: string) => attestations((all) => all.filter((one) => one.kind !== kind))
const changed = (kind: string, fields: Partial<Attestations[number]>) =>
  attestations((all) => all.map((one) => (one.kind === kind ? { ...one, ...fields } : one)))
/** The counts of the input, which it has because its repository was scanned. */
function countsOf(input: PolicyInput, what: 'findings' | 'issues') {
  const counts = input[what]
  assert.ok(counts)
  return counts
}
const open =
  (severity: 'critical' | 'high', figure: number): Change =>
  (input) => {
    const counts = countsOf(input, 'findings')
    return { findings: { ...counts, open: { ...counts.open, [severity]: figure } } }
  }
const scannedAt =
  (at: string): Change =>
  (input) => ({ scans: input.scans.map((scan) => ({ ...scan, at })) })
const exploited: Change = (input) => ({ issues: { ...countsOf(input, 'issues'), known_exploited: 1 } })
const likely: Change = (input) => ({ findings: { ...countsOf(input, 'findings'), max_epss: 0.97 } })
const review =
  (fields: Partial<PolicyInput['reviews'][number]>): Change =>
  (input) => ({ reviews: input.reviews.map((one) => ({ ...one, ...fields })) })
const checked =
  (status: string): Change =>
  (input) => ({ checks: input.checks.map((one) => ({ ...one, status })) })
const neverScanned: Change = () => ({ scans: [] })

/** Changes to the input that make each example fail, with the expected decision. */
const EXAMPLES: Record<string, [what: string, change: Change, decision: string][]> = {
  'tests-passed': [
    ['a failed test', changed('test-results', { status: 'fail' }), 'block'],
    ['no test results', without('test-results'), 'block'],
    ['only informational test results', changed('test-results', { status: 'info' }), 'block'],
  ],
  'no-open-critical': [
    ['a critical finding', open('critical', 1), 'block'],
    ['a repository without a scan', neverScanned, 'block'],
    ['many high findings', open('high', 6), 'approve'],
  ],
  'no-known-exploited': [
    ['a known exploited vulnerability', exploited, 'block'],
    ['a likely exploit', likely, 'approve'],
  ],
  'sbom-present': [
    ['no SBOM', without('sbom'), 'block'],
    ['an SBOM that was not read', changed('sbom', { status: 'info' }), 'block'],
    ['an empty SBOM', changed('sbom', { data: { format: 'spdx', components: 0 } }), 'block'],
  ],
  'coverage-kept': [
    ['coverage below 80 percent', changed('coverage', { data: { lines: 79.9 } }), 'block'],
    [
      "coverage below the job's threshold",
      changed('coverage', { status: 'fail', data: { lines: 85, threshold: 90 } }),
      'block',
    ],
    ['no coverage', without('coverage'), 'block'],
  ],
  'scan-fresh': [
    ['a scan of last month', scannedAt('2026-02-01T00:00:00.000Z'), 'block'],
    ['a scan a millisecond too old', scannedAt('2026-02-25T05:06:06.999Z'), 'block'],
    ['no scan', neverScanned, 'block'],
  ],
  reviewed: [
    ['a commit without a pull request', () => ({ pull_request: null, reviews: [] }), 'block'],
    ['an approval by the author', review({ reviewer: 'octocat' }), 'block'],
    ['an approval of an earlier commit', review({ stale: true }), 'block'],
    ['a review that approves nothing', review({ state: 'commented' }), 'block'],
    ['a failed check', checked('failure'), 'block'],
    ['no finished check', () => ({ checks: [] }), 'block'],
  ],
}

const read = (name: string) => definitionOf(readFileSync(new URL(`${name}.yaml`, DIRECTORY), 'utf8'))

for (const [name, changes] of Object.entries(EXAMPLES)) {
  test(`${name} passes on docs/policies/input.json`, async () => {
    const rules = await verdictsOf(read(name), GOOD)
    assert.deepEqual(
      rules.map(({ status }) => status),
      rules.map(() => 'pass'),
    )
  })

  for (const [what, change, decision] of changes) {
    test(`${name} returns ${decision} for ${what}, with a reason`, async () => {
      const rules = await verdictsOf(read(name), { ...GOOD, ...change(GOOD) })
      assert.equal(decide('enforce', rules), decision)
      for (const { status, reason } of rules) if (status !== 'pass') assert.ok(reason)
    })
  }
}

test('every example is tested', () => {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.yaml'))
  assert.deepEqual(
    files.sort(),
    Object.keys(EXAMPLES)
      .map((name) => `${name}.yaml`)
      .sort(),
  )
})
