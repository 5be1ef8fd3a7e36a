import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReportWarnings } from '../report/report-reading.ts'
import { findRule, keepRule, ruleReference } from './rule.ts'
import { newComponent, newRun, RunBudget, type SarifRun } from './sarif-run.ts'

function runWith(driverRules: object[], extensionRules: object[] = []): SarifRun {
  const budget = new RunBudget(new ReportWarnings())
  const extension = { ...newComponent(), name: 'pack', guid: 'abcd' }
  const run = { ...newRun(), extensions: [extension] }
  for (const [index, rule] of driverRules.entries()) keepRule(run.driver, index, rule, budget)
  for (const [index, rule] of extensionRules.entries()) keepRule(extension, index, rule, budget)
  return run
}

const run = runWith([{ id: 'A' }, { id: 'B', guid: 'GUID-B' }], [{ id: 'X' }, { id: 'CA1000' }])
const found = (result: object) => findRule(run, ruleReference(result as Record<string, unknown>))?.id

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
