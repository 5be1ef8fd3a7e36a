import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RULES } from '../../../../test/support/rule-names.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { applyRules, linkBucket } from './link-bucket.ts'
import { RecordedLinks } from './links.ts'

const some = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: null })

/** Findings of one bucket, with so few values that many are equal. */
const bucketOf = (kind: 'code' | 'dependency' | 'secret') =>
  fc.array(
    fc.record({
      kind: fc.constant(kind),
      tool: fc.constantFrom('One', 'Two', 'Three'),
      stream_id: fc.constantFrom(1, 2),
      is_alert: fc.boolean(),
      message: fc.constant(null),
      path: fc.constant('src/a.ts'),
      start_line: some(1, 4, 8),
      end_line: some(4, 9),
      start_column: fc.constant(null),
      end_column: fc.constant(null),
      package_name: fc.constant('lib'),
      purl: some('pkg:npm/lib@1', 'pkg:pypi/lib@1'),
      vuln_ids: fc.subarray(['CVE-2024-1000', 'CVE-2024-2000', 'GHSA-1', 'RHSA-2024:1']),
      cwes: fc.subarray(['CWE-79', 'CWE-89']),
      rule_id: some('js/dom-xss', 'py/dom-xss', 'sqli'),
      secret_type: fc.constant(null),
      resource_name: some('bucket', 'queue'),
      fingerprint: some('aa', 'bb', 'cc'),
      context: kind === 'secret' ? fc.constant('dd') : some('ee', 'ff'),
      told: some('gg', 'hh'),
    }) satisfies fc.Arbitrary<GroupingFacts>,
    { maxLength: 12 },
  )

const canonicalId = (id: string) => (id === 'GHSA-1' ? 'CVE-2024-1000' : id)

for (const kind of ['code', 'dependency', 'secret'] as const) {
  test(`recorded links of ${kind} findings give the same groups, and the first match of each finding is its reason`, () => {
    fc.assert(
      fc.property(bucketOf(kind), (members) => {
        const links = linkBucket(members, { canonicalId, rules: RULES })
        const recorded = new RecordedLinks(members, RULES)
        applyRules(recorded, canonicalId)
        assert.deepEqual(recorded.groups(), links.groups())
        for (const at of members.keys()) {
          const [first] = recorded.getMatches(at)
          const { code, detail } = links.getReason(at)
          assert.deepEqual([first?.code ?? 'single', first?.detail ?? null], [code, detail])
        }
      }),
    )
  })

  test(`the findings of a ${kind} group are connected by recorded matches`, () => {
    fc.assert(
      fc.property(bucketOf(kind), (members) => {
        const recorded = new RecordedLinks(members, RULES)
        applyRules(recorded, canonicalId)
        const groups = recorded.groups()
        for (const [at] of members.entries()) {
          const reached = new Set([at])
          for (const number of reached) {
            for (const match of recorded.getMatches(number)) for (const other of match.indexes) reached.add(other)
          }
          assert.deepEqual([...reached].sort(), groups.find((group) => group.includes(at))?.toSorted())
        }
      }),
    )
  })
}
