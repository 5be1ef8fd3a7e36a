import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReportWarnings } from '../report/report-reading.ts'
import { collectResultCwes, collectRule, collectRuleCwes, findRule, readRuleReference } from './rule.ts'
import { createComponent, createRun, RunBudget, type SarifRun } from './sarif-run.ts'

function runWith(driverRules: object[], extensionRules: object[] = []): SarifRun {
  const budget = new RunBudget(new ReportWarnings())
  const extension = { ...createComponent(), name: 'pack', guid: 'abcd' }
  const run = { ...createRun(), extensions: [extension] }
  for (const [index, rule] of driverRules.entries()) collectRule(run.driver, index, rule, budget)
  for (const [index, rule] of extensionRules.entries()) collectRule(extension, index, rule, budget)
  return run
}

const run = runWith([{ id: 'A' }, { id: 'B', guid: 'GUID-B' }], [{ id: 'X' }, { id: 'CA1000' }])
const found = (result: object) => findRule(run, readRuleReference(result as Record<string, unknown>))?.id

test('a rule is found by id, by index, by rule.id, rule.index and rule.guid', () => {
  assert.equal(found({ ruleId: 'B' }), 'B')
  assert.equal(found({ ruleIndex: 1 }), 'B')
  assert.equal(found({ rule: { id: 'B' } }), 'B')
  assert.equal(found({ rule: { index: 1 } }), 'B')
  assert.equal(found({ rule: { guid: 'guid-b' } }), 'B')
  assert.equal(found({}), undefined)
})

test('the index is resolved in the extension with this index, guid or name', () => {
  for (const toolComponent of [{ index: 0 }, { guid: 'ABCD' }, { name: 'pack' }]) {
    assert.equal(found({ rule: { index: 0, toolComponent } }), 'X')
    assert.equal(found({ ruleId: 'X', ruleIndex: 0, rule: { toolComponent } }), 'X')
  }
})

test('an id that only an extension has is found', () => {
  assert.equal(found({ ruleId: 'X' }), 'X')
})

test('a hierarchical id belongs to the rule above it', () => {
  assert.equal(found({ ruleId: 'CA1000/1/2' }), 'CA1000')
  assert.equal(found({ ruleId: 'A/1', ruleIndex: 0 }), 'A')
})

test('if id and index disagree, the id counts if a rule has it, else the index', () => {
  assert.equal(found({ ruleId: 'A', ruleIndex: 1 }), 'A')
  assert.equal(found({ ruleId: 'TUT1002', ruleIndex: 1 }), 'B')
  assert.equal(found({ ruleId: 'A', ruleIndex: 99 }), 'A')
  assert.equal(found({ ruleId: 'unknown', ruleIndex: -1 }), undefined)
})

test('the names of members of every object are not rules', () => {
  assert.equal(found({ ruleId: '__proto__' }), undefined)
  assert.equal(found({ ruleId: 'constructor' }), undefined)
})

const TAXONOMIES = [
  { name: 'OWASP', guid: null, taxonIds: ['1021'] },
  { name: 'CWE', guid: 'cwe-guid', taxonIds: ['664', '22'] },
]

function cwes(result: object, rule: object | null = null): string[] {
  const run = { ...createRun(), taxonomies: TAXONOMIES }
  if (rule !== null) collectRule(run.driver, 0, { id: 'R', ...rule }, new RunBudget(new ReportWarnings()))
  const [kept] = run.driver.rules
  if (kept !== undefined) kept.cwes = collectRuleCwes(run, kept)
  return collectResultCwes(run, result as Record<string, unknown>, kept, 'R')
}

const ofRule = (rule: object) => cwes({}, rule)
const related = (target: object) => ({ relationships: [{ target, kinds: ['superset'] }] })

test('CWE ids are read from the tags of a rule, in any form', () => {
  assert.deepEqual(ofRule({ properties: { tags: ['security', 'external/cwe/cwe-079', 'CWE-20: Improper'] } }), [
    'CWE-79',
    'CWE-20',
  ])
})

test('CWE ids are read from relationships: the taxon by id or index, the taxonomy by name, index or guid', () => {
  assert.deepEqual(ofRule(related({ id: '22', toolComponent: { name: 'CWE' } })), ['CWE-22'])
  assert.deepEqual(ofRule(related({ id: '22', toolComponent: { index: 1 } })), ['CWE-22'])
  assert.deepEqual(ofRule(related({ id: '22', toolComponent: { guid: 'CWE-GUID' } })), ['CWE-22'])
  assert.deepEqual(ofRule(related({ index: 1, toolComponent: { name: 'CWE', index: 1 } })), ['CWE-22'])
})

test('a number in another taxonomy is not a CWE id', () => {
  assert.deepEqual(ofRule(related({ id: '1021', toolComponent: { name: 'OWASP' } })), [])
  assert.deepEqual(ofRule(related({ id: '1021' })), [])
})

test('the CWE taxonomy is known by its guid if the report does not contain it', () => {
  const toolComponent = { guid: 'FFC64C90-42B6-44CE-8BEB-F6B7DAE649E5' }
  assert.deepEqual(ofRule(related({ id: '89', toolComponent })), ['CWE-89'])
})

test('CWE ids are read from properties as texts, numbers or URLs', () => {
  assert.deepEqual(ofRule({ properties: { cwe: ['CWE-798', 'CWE-259'] } }), ['CWE-798', 'CWE-259'])
  assert.deepEqual(ofRule({ properties: { cwe: 78 } }), ['CWE-78'])
  assert.deepEqual(ofRule({ properties: { cweId: '327' } }), ['CWE-327'])
  assert.deepEqual(cwes({ properties: { cwe: 'https://cwe.mitre.org/data/definitions/614.html' } }), ['CWE-614'])
  assert.deepEqual(ofRule({ properties: { cwe: { id: 1 } } }), [])
})

test('the CWE ids of a result come before those of its rule', () => {
  const result = { taxa: [{ id: '22', toolComponent: { name: 'CWE' } }], properties: { tags: ['CWE-73'] } }
  assert.deepEqual(cwes(result, { properties: { tags: ['CWE-20'] } }), ['CWE-22', 'CWE-73', 'CWE-20'])
})

test('without a rule, a rule id that is a CWE id counts', () => {
  assert.deepEqual(collectResultCwes(createRun(), {}, undefined, 'CWE-209'), ['CWE-209'])
  assert.deepEqual(cwes({}), [])
})
