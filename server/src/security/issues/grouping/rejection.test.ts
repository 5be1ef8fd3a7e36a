import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupingFacts } from './grouping-facts.ts'
import { Rejections } from './rejection.ts'

const NONE: GroupingFacts = {
  ...{ kind: 'dependency', path: null, start_line: null, end_line: null, package_name: 'lib', purl: null },
  ...{
    vuln_ids: [],
    cwes: [],
    rule_id: null,
    secret_type: null,
    resource_name: null,
    fingerprint: null,
    context: null,
  },
}
const facts = (fields: Partial<GroupingFacts>): GroupingFacts => ({ ...NONE, ...fields })
const canonicalId = (id: string) => (id === 'GHSA-1' ? 'CVE-2024-1000' : id)
const rejection = (finding: Partial<GroupingFacts>, ...members: Partial<GroupingFacts>[]) =>
  new Rejections(members.map(facts), canonicalId).of(facts(finding))

test('another vulnerability, by the names that stand for aliases', () => {
  assert.deepEqual(rejection({ vuln_ids: ['CVE-2024-2000'] }, { vuln_ids: ['GHSA-1'] }), {
    code: 'other_vulnerability',
    detail: 'CVE-2024-2000, not CVE-2024-1000.',
  })
})

test('one vulnerability of another ecosystem, or of none that is named', () => {
  const member = { vuln_ids: ['CVE-2024-1000'], purl: 'pkg:npm/lib@1' }
  assert.deepEqual(rejection({ vuln_ids: ['GHSA-1'], purl: 'pkg:pypi/lib@1' }, member), {
    code: 'other_ecosystem',
    detail: 'CVE-2024-1000 too, but of pypi, not of npm.',
  })
  assert.match(rejection({ vuln_ids: ['GHSA-1'] }, member).detail, /but of no named ecosystem, not of npm/)
})

test('no vulnerability where the issue has one, and another rule where neither has', () => {
  assert.deepEqual(rejection({ rule_id: 'MIT' }, { vuln_ids: ['CVE-2024-1000'] }), {
    code: 'other_vulnerability',
    detail: 'none, not CVE-2024-1000.',
  })
  assert.deepEqual(rejection({ rule_id: 'MIT' }, { rule_id: 'GPL' }), { code: 'other_rule', detail: 'MIT, not GPL.' })
})

test('of code another weakness, or one that is shared, elsewhere', () => {
  const at = (rule_id: string, start_line: number | null, end_line: number | null) =>
    ({ kind: 'code', path: 'a.ts', rule_id, start_line, end_line }) as const
  assert.equal(rejection(at('xss', 1, 1), at('sqli', 1, 1)).code, 'other_weakness')
  const details = [at('xss', 7, 9), at('xss', 7, 7), at('xss', null, null)].map(
    (finding) => rejection(finding, at('js/xss', 1, 1)).detail,
  )
  assert.deepEqual(details, [
    'rule xss too, but other code at lines 7 to 9.',
    'rule xss too, but other code at line 7.',
    'rule xss too, but other code without lines.',
  ])
})

test('of many names it lists three', () => {
  const members = [1, 2, 3, 4, 5].map((at) => ({ vuln_ids: [`CVE-2024-100${at}`] }))
  assert.equal(
    rejection({ vuln_ids: ['CVE-2024-9000'] }, ...members).detail,
    'CVE-2024-9000, not CVE-2024-1001, CVE-2024-1002, CVE-2024-1003 and 2 more.',
  )
})
