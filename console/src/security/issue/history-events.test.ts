import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Schema } from '../../api/client.ts'
import type { TriageRecord } from '../triage/triage-words.ts'
import { historyOf } from './history-events.ts'

const at = (minute: number) => `2026-03-04T10:${String(minute).padStart(2, '0')}:00.000Z`
const ISSUE = { status: 'open', first_seen_at: at(0), last_seen_at: at(30) } as const

const TRIAGE: TriageRecord = {
  ...{
    id: 'a',
    action: 'dismiss',
    source: 'shiplock',
    target_type: 'issue',
    target_ids: ['i'],
    target_titles: ['An issue'],
    finding_count: 2,
  },
  ...{
    alert_count: 0,
    scope: 'issue',
    reason: 'wont_fix',
    comment: 'Retired in May',
    expires_at: null,
    created_at: at(10),
  },
  ...{ created_by_id: 'u', created_by_name: 'Ada', status: 'active', ended_at: null, ended_by_name: null },
}

function member(minute: number, code: string): Schema<'IssueExplanation'>['members'][number] {
  const reason = { code, detail: 'The same CVE.', at: at(minute) }
  return { reason } as Schema<'IssueExplanation'>['members'][number]
}

const linesOf = (...given: Parameters<typeof historyOf>) =>
  historyOf(...given).map(({ who, text, note }) => [who, text, note].filter(Boolean).join(' | '))

test('decisions, joins and the first sight are in order, newest first', () => {
  const members = [member(0, 'single'), member(5, 'same_vulnerability'), member(5, 'same_vulnerability')]
  assert.deepEqual(linesOf(ISSUE, { members, history: [] }, [TRIAGE]), [
    'Ada | dismissed 1 issue (2 findings): Won’t fix | Retired in May',
    '2 findings joined | The same CVE.',
    'First seen',
  ])
})

test('an undone decision stays, and the undoing is above it also at the same time', () => {
  const undone = { ...TRIAGE, comment: null, status: 'undone', ended_at: at(10), ended_by_name: 'Grace' } as const
  assert.deepEqual(linesOf(ISSUE, { members: [], history: [] }, [undone]).slice(0, 2), [
    'Grace | undid a decision | It was: dismissed 1 issue (2 findings): Won’t fix',
    'Ada | dismissed 1 issue (2 findings): Won’t fix',
  ])
})

test('a fixed issue ends with the last time it was seen', () => {
  const [last] = linesOf({ ...ISSUE, status: 'fixed' }, { members: [], history: [] }, [TRIAGE])
  assert.equal(last, 'Seen for the last time, and fixed since')
})
