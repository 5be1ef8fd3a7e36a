import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missedBars } from '../../bench/tracking/bars.ts'
import { noScore } from '../../bench/tracking/identity-score.ts'

function score(truePositives: number, falsePositives: number, falseNegatives: number) {
  const counts = { truePositives, falsePositives, falseNegatives }
  return { ...noScore(), unchanged: counts, withEdits: counts }
}

const scores = (shiplock: ReturnType<typeof score>, github = noScore()) => ({ shiplock, github, defectDojo: noScore() })
const names = (missed: string[]) => missed.map((line) => line.split(':')[0])
const all = scores(score(10_000, 0, 0))

test('figures at their bars miss none', () => {
  assert.deepEqual(missedBars({ all: scores(score(9990, 10, 9)), byTool: new Map(), issues: new Map() }), [])
})

test('precision and F1 of identity have bars of their own', () => {
  const missed = missedBars({ all: scores(score(9985, 15, 0)), byTool: new Map(), issues: new Map() })
  assert.deepEqual(names(missed), ['Identity precision, unchanged text', 'Identity precision, with edits'])
  const lost = missedBars({ all: scores(score(9950, 0, 50)), byTool: new Map(), issues: new Map() })
  assert.deepEqual(names(lost), ['Identity F1, unchanged text'])
})

test('no scanner may be below GitHub', () => {
  const github = score(100, 0, 0)
  const byTool = new Map([
    ['equal', scores(score(50, 0, 0), github)],
    ['below', scores(score(99, 0, 1), github)],
  ])
  assert.deepEqual(names(missedBars({ all, byTool, issues: new Map() })), ['below', 'below'])
})

test('infrastructure as code needs less recall, pairs of one scanner only precision', () => {
  const issue = (precision: number, recall: number) => ({
    ...score(0, 0, 0).unchanged,
    pairs: 0,
    missing: 0,
    precision,
    recall,
  })
  const issues = (recall: number, precision = 1) =>
    new Map([
      ['code and secrets', issue(precision, recall)],
      ['infrastructure as code', issue(precision, recall)],
      ['one scanner', issue(precision, recall)],
    ] as const)
  assert.deepEqual(names(missedBars({ all, byTool: new Map(), issues: issues(0.85) })), ['Issues, code and secrets'])
  assert.equal(missedBars({ all, byTool: new Map(), issues: issues(1, 0.96) }).length, 3)
})

test('every judged pair has to be among the findings', () => {
  const score = { truePositives: 1, falsePositives: 0, falseNegatives: 0, pairs: 2, precision: 1, recall: 1 }
  const missed = (missing: number) =>
    missedBars({ all, byTool: new Map(), issues: new Map([['code and secrets', { ...score, missing }]]) })
  assert.deepEqual(missed(0), [])
  assert.deepEqual(missed(1), ['Issues, code and secrets: 1 pairs are not among the findings'])
})
