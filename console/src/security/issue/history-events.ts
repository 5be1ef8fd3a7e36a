import type { Schema } from '../../api/client.ts'
import { oneLine } from '../../page/reported-text.ts'
import { countTargets } from '../triage/targets.ts'
import { deciderOf, type TriageRecord, wordsOf } from '../triage/triage-words.ts'

type Explanation = Pick<Schema<'IssueExplanation'>, 'members' | 'history'>
type Dated = Pick<Schema<'Issue'>, 'status' | 'first_seen_at' | 'last_seen_at'>

/** Something that happened to an issue. */
export type HistoryEvent = {
  key: string
  at: string
  type: 'seen' | 'joined' | 'dismissed' | 'reopened' | 'split' | 'merged' | 'ended' | 'fixed'
  /** Who did it, if it was a person. */
  who: string | null
  text: string
  note: string | null
  /** Another issue that it is about. */
  otherIssueId: string | null
  /** Set if it is a decision that can be undone. */
  triage: TriageRecord | null
}

const NOTHING = { who: null, note: null, otherIssueId: null, triage: null }
/** A split or merge of a person and its entry in the history have nearly the same time. */
const SAME_MS = 5000

/** The history of an issue, newest first. */
export function historyOf(issue: Dated, { members, history }: Explanation, triages: TriageRecord[]): HistoryEvent[] {
  const edits = triages.filter(({ action }) => action === 'split' || action === 'merge')
  const isEdit = (at: string) => edits.some((edit) => Math.abs(Date.parse(edit.created_at) - Date.parse(at)) < SAME_MS)
  const events = [
    { ...NOTHING, key: 'seen', at: issue.first_seen_at, type: 'seen' as const, text: 'First seen' },
    ...joins(members, issue.first_seen_at),
    ...triages.flatMap(decisionEvents),
    ...history.map((entry, index) => ({
      ...NOTHING,
      ...{ key: `history ${index}`, at: entry.at, type: entry.event, text: oneLine(entry.detail, 300) },
      otherIssueId: entry.other_issue_id,
      who: isEdit(entry.at) ? (edits[0]?.created_by_name ?? null) : null,
    })),
    ...fixes(issue),
  ]
  return events.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

/** Findings that joined at the same time for the same reason are one event. */
function joins(members: Explanation['members'], since: string): HistoryEvent[] {
  const later = members.filter(({ reason }) => reason.code !== 'single' && reason.at > since)
  const groups = Map.groupBy(later, ({ reason }) => `${reason.at} ${reason.code}`)
  return [...groups].map(([key, joined]) => ({
    ...NOTHING,
    ...{ key: `joined ${key}`, at: joined[0]?.reason.at ?? since, type: 'joined' },
    text: `${countTargets('finding', joined.length)} joined`,
    note: joined[0] ? oneLine(joined[0].reason.detail, 300) : null,
  }))
}

function decisionEvents(triage: TriageRecord): HistoryEvent[] {
  const { id, action, created_at, ended_at, ended_by_name, status, comment } = triage
  const past = { dismiss: 'dismissed', reopen: 'reopened', split: 'split', merge: 'merged' } as const
  const made: HistoryEvent = {
    ...{ ...NOTHING, key: id, at: created_at, type: past[action], who: deciderOf(triage), triage },
    ...{ text: wordsOf(triage), note: comment && oneLine(comment, 1000) },
  }
  if (ended_at === null || status === 'active') return [made]
  const words = {
    undone: ended_by_name === null ? 'Undone' : 'undid a decision',
    expired: 'The dismissal expired',
    replaced: 'Replaced by a later decision',
  }
  const ended: HistoryEvent = {
    ...{ ...NOTHING, key: `${id} ended`, at: ended_at, type: 'ended' },
    ...{ who: status === 'undone' ? ended_by_name : null, text: words[status], note: `It was: ${wordsOf(triage)}` },
  }
  return [ended, made]
}

function fixes({ status, last_seen_at }: Dated): HistoryEvent[] {
  if (status !== 'fixed') return []
  return [
    { ...NOTHING, key: 'fixed', at: last_seen_at, type: 'fixed', text: 'Seen for the last time, and fixed since' },
  ]
}
