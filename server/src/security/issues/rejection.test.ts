import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RULES } from '../../../test/support/rule-names.ts'
import type { GroupingFacts } from './grouping/grouping-facts.ts'
import { Rejections } from './rejection.ts'

const NONE: GroupingFacts = {
  kind: 'dependency',
  tool: 'Scanner',
  stream_id: 1,
  is_alert: false,
  start_column: null,
  end_column: null,
  message: null,
  path: null,
  start_line: null,
  end_line: null,
  package_name: 'lib',
  purl: null,
  vuln_ids: [],
  cwes: [],
  rule_id: null,
  secret_type: null,
  resource_name: null,
  fingerprint: null,
  context: null,
  told: null,
}
const facts = (fields: Partial<GroupingFacts>): GroupingFacts => ({ ...NONE, ...fields })
const canonicalId = (id: string) => (id === 'GHSA-1' ? 'CVE-2024-1000' : id)
const nearness = (finding: Partial<GroupingFacts>, ...members: Partial<GroupingFacts>[]) =>
  new Rejections(members.map(facts), { canonicalId, rules: RULES }).of(facts(finding))
const rejection = (finding: Partial<GroupingFacts>, ...members: Partial<GroupingFacts>[]) => {
  const { code, detail } = nearness(finding, ...members)
  return { code, detail }
}

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

const at = (tool: string, rule_id: string, start_line: number | null, fields: Partial<GroupingFacts> = {}) =>
  ({ kind: 'code', path: 'a.ts', tool, rule_id, start_line, end_line: start_line, ...fields }) as const

test('a different weakness in code, or the same weakness at a different location', () => {
  const issue = at('Bandit', 'B602', 1, { cwes: ['CWE-78'] })
  assert.deepEqual(rejection(at('CodeQL', 'py/xss', 1, { cwes: ['CWE-79'] }), issue), {
    code: 'other_weakness',
    detail: 'Different weakness: CWE-79 instead of python-subprocess-shell, CWE-78.',
  })
  const details = [{ end_line: 9 }, {}, { start_line: null }].map(
    (fields) => rejection(at('CodeQL', 'py/shell', 7, { cwes: ['CWE-78'], ...fields }), issue).detail,
  )
  assert.deepEqual(details, [
    'Different location: CWE-78 at lines 7 to 9.',
    'Different location: CWE-78 at line 7.',
    'Different location: CWE-78 without line numbers.',
  ])
})

test('a different rule of the same scanner at one line', () => {
  const issue = at('Bandit', 'B602', 1, { cwes: ['CWE-78'] })
  assert.deepEqual(rejection(at('Bandit', 'B605', 1, { cwes: ['CWE-78'] }), issue), {
    code: 'other_rule',
    detail: 'Different rule of the same scanner: Bandit B605 instead of Bandit B602.',
  })
})

test('the distance in lines is that to the nearest finding of the issue in the same file', () => {
  const issue = [at('One', 'x', 1, { end_line: 4 }), at('One', 'x', 40)]
  const lines = (fields: Partial<GroupingFacts>) => nearness(at('Two', 'y', 7, fields), ...issue).lines
  assert.deepEqual(
    [lines({}), lines({ start_line: 3 }), lines({ start_line: 35, end_line: 38 }), lines({ path: 'b.ts' })],
    [3, 0, 2, Number.POSITIVE_INFINITY],
  )
})

test('the detail lists at most three names', () => {
  const members = [1, 2, 3, 4, 5].map((at) => ({ vuln_ids: [`CVE-2024-100${at}`] }))
  assert.equal(
    rejection({ vuln_ids: ['CVE-2024-9000'] }, ...members).detail,
    'Different vulnerability: CVE-2024-9000 instead of CVE-2024-1001, CVE-2024-1002, CVE-2024-1003 and 2 more.',
  )
})
