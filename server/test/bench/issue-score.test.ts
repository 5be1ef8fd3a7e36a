import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, answer, scoreIssues } from '../../bench/tracking/issue-score.ts'
import type { JudgedPair } from '../../bench/tracking/judged-pairs.ts'
import type { StoredFinding } from '../../bench/tracking/shiplock-findings.ts'

const judged = (tool: string, rule = 'R') => ({ tool, rule, path: 'a.py', start_line: 3, end_line: 4 })

function pair(same: boolean, fields: Partial<JudgedPair> = {}): JudgedPair {
  const about = { kind: 'code', repository: 'o__r', commit: 'c', why: '' } as const
  return { ...about, a: judged('one'), b: judged('two'), same, ...fields }
}

function finding(issueId: string, fields: Partial<StoredFinding> = {}): StoredFinding {
  const place = {
    rule: 'R',
    path: 'a.py',
    startLine: 3,
    endLine: 4,
    startColumn: null,
    endColumn: null,
    description: '',
  }
  return { id: 'f', issueId, ...place, ...fields }
}

test('a pair is joined if both findings are of one issue', () => {
  const isJoined = (one: string, two: string) =>
    answer(
      pair(true),
      new Map([
        ['one', [finding(one)]],
        ['two', [finding(two)]],
      ]),
    ).isJoined
  assert.equal(isJoined('x', 'x'), true)
  assert.equal(isJoined('x', 'y'), false)
})

test('a finding of another rule, path or line is not the judged one', () => {
  for (const other of [{ rule: 'S' }, { path: 'b.py' }, { startLine: 2 }, { endLine: 5 }]) {
    const findings = new Map([
      ['one', [finding('x')]],
      ['two', [finding('x', other)]],
    ])
    assert.equal(answer(pair(true), findings).isJoined, null)
  }
})

test('precision and recall are those of the pairs that were found', () => {
  const answers: Answer[] = [
    { pair: pair(true), isJoined: true },
    { pair: pair(true), isJoined: false },
    { pair: pair(false), isJoined: true },
    { pair: pair(false), isJoined: false },
    { pair: pair(true), isJoined: null },
  ]
  const score = scoreIssues(answers).get('code and secrets')
  assert.deepEqual([score?.precision, score?.recall, score?.pairs, score?.missing], [0.5, 0.5, 5, 1])
})

test('infrastructure and pairs of one scanner are scored apart', () => {
  const answers: Answer[] = [
    { pair: pair(true, { kind: 'secret' }), isJoined: true },
    { pair: pair(true, { kind: 'iac' }), isJoined: false },
    { pair: pair(false, { kind: 'iac', b: judged('one', 'S') }), isJoined: true },
  ]
  const scores = scoreIssues(answers)
  assert.equal(scores.get('code and secrets')?.recall, 1)
  assert.equal(scores.get('infrastructure as code')?.recall, 0)
  assert.equal(scores.get('one scanner')?.falsePositives, 1)
})
