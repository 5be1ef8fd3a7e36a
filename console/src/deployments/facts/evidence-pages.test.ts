import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evidencePages } from './deployment-state.ts'

test('a rule links to the pages of what its expression reads', () => {
  assert.deepEqual(evidencePages('attestations.exists(a, a.kind == "test-results")'), ['run'])
  assert.deepEqual(evidencePages('findings.open.critical == 0 && issues.open.high < 3'), ['findings', 'issues'])
  assert.deepEqual(evidencePages('scans.all(s, now - s.at < duration("24h"))'), ['uploads'])
  assert.deepEqual(evidencePages('reviews.exists(r, r.state == "approved")'), ['change'])
})

test('texts in an expression do not count', () => {
  assert.deepEqual(evidencePages('environment.name == "issues \\" findings"'), [])
})

test('a rule in another language can have read anything', () => {
  assert.deepEqual(evidencePages(null), ['run', 'findings', 'issues'])
})
