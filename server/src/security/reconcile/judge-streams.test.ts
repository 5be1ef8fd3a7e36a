import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideClosing, type ReportToJudge } from './judge-streams.ts'

const REPORT: ReportToJudge = {
  tool: 'Lint',
  rules: 4,
  rulesBefore: 5,
  incomplete: null,
  open: 20,
  missing: 11,
  missingBefore: 0,
}

const closing = (fields: Partial<ReportToJudge> = {}) => decideClosing({ ...REPORT, ...fields }).closing

test('a report without more than half of 20 findings and with fewer rules closes only what was missing before', () => {
  assert.equal(closing(), 'missing_before')
  assert.equal(
    decideClosing(REPORT).warning,
    '11 of 20 open findings of Lint are missing from this report, which names 4 rules. The previous report named 5. ' +
      'These findings were not closed. The next report that does not contain them closes them.',
  )
})

test('half of the findings, fewer than 20 findings, and as many rules are all closed', () => {
  assert.equal(closing({ missing: 10 }), 'all')
  assert.equal(closing({ open: 19, missing: 19 }), 'all')
  assert.equal(closing({ rules: 5 }), 'all')
  assert.equal(closing({ rules: 6 }), 'all')
})

test('all findings are closed if the number of rules is unknown, in this report or in the previous one', () => {
  assert.equal(closing({ rules: null }), 'all')
  assert.equal(closing({ rulesBefore: null }), 'all')
})

test('findings that were missing from the previous report too are not counted', () => {
  assert.equal(closing({ open: 100, missing: 95, missingBefore: 95 }), 'all')
  assert.equal(closing({ open: 100, missing: 97, missingBefore: 50 }), 'missing_before')
  assert.equal(closing({ open: 60, missing: 60, missingBefore: 41 }), 'all')
})

test('an incomplete report closes nothing, and the warning has the reason', () => {
  const verdict = decideClosing({ ...REPORT, open: 1, missing: 1, missingBefore: 1, incomplete: 'It was cut.' })
  assert.deepEqual(verdict, { closing: 'none', warning: 'No findings of Lint were closed. It was cut.' })
})
