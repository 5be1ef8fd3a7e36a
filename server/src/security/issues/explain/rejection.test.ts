import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupingFacts } from '../grouping/grouping-facts.ts'
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

test('a different vulnerability, compared by canonical ids', () => {
  assert.deepEqual(rejection({ vuln_ids: ['CVE-2024-2000'] }, { vuln_ids: ['GHSA-1'] }), {
    code: 'other_vulnerability',
    detail: 'Different vulnerability: CVE-2024-2000 instead of CVE-2024-1000.',
  })
})

test('the same vulnerability in a different or unknown ecosystem', () => {
  const member = { vuln_ids: ['CVE-2024-1000'], purl: 'pkg:npm/lib@1' }
  assert.deepEqual(rejection({ vuln_ids: ['GHSA-1'], purl: 'pkg:pypi/lib@1' }, member), {
    code: 'other_ecosystem',
    detail: 'Different ecosystem: CVE-2024-1000 in pypi instead of npm.',
  })
  assert.match(
    rejection({ vuln_ids: ['GHSA-1'] }, member).detail,
    /CVE-2024-1000 in an unknown ecosystem instead of npm/,
  )
})

test('no vulnerability although the issue has one; a different rule if neither has one', () => {
  assert.deepEqual(rejection({ rule_id: 'MIT' }, { vuln_ids: ['CVE-2024-1000'] }), {
    code: 'other_vulnerability',
    detail: 'Different vulnerability: none instead of CVE-2024-1000.',
  })
  assert.deepEqual(rejection({ rule_id: 'MIT' }, { rule_id: 'GPL' }), {
    code: 'other_rule',
    detail: 'Different rule: MIT instead of GPL.',
  })
})

test('a different weakness in code, or the same weakness at a different location', () => {
  const at = (rule_id: string, start_line: number | null, end_line: number | null) =>
    ({ kind: 'code', path: 'a.ts', rule_id, start_line, end_line }) as const
  assert.equal(rejection(at('xss', 1, 1), at('sqli', 1, 1)).code, 'other_weakness')
  const details = [at('xss', 7, 9), at('xss', 7, 7), at('xss', null, null)].map(
    (finding) => rejection(finding, at('js/xss', 1, 1)).detail,
  )
  assert.deepEqual(details, [
    'Different location: rule xss at lines 7 to 9.',
    'Different location: rule xss at line 7.',
    'Different location: rule xss without line numbers.',
  ])
})

test('the detail lists at most three names', () => {
  const members = [1, 2, 3, 4, 5].map((at) => ({ vuln_ids: [`CVE-2024-100${at}`] }))
  assert.equal(
    rejection({ vuln_ids: ['CVE-2024-9000'] }, ...members).detail,
    'Different vulnerability: CVE-2024-9000 instead of CVE-2024-1001, CVE-2024-1002, CVE-2024-1003 and 2 more.',
  )
})
