import type { Tone } from '../../page/badges.tsx'
import type { Decision } from '../answers/answer-options.ts'
import { type Deployment, formatPerson } from '../facts/deployment-state.ts'

/** Something that happened to a deployment. */
export type TimelineEntry = {
  /** Null if it is not known when. */
  at: string | null
  kind:
    | 'opened'
    | 'policy'
    | 'gate'
    | 'approved'
    | 'rejected'
    | 'override'
    | 'bypass'
    | 'running'
    | 'deployed'
    | 'ended'
  /** What happened, without who: "Approved". */
  title: string
  by: string | null
  /** The reason or comment that was given. */
  note: string | null
}

export const ENTRY_TONES: Record<TimelineEntry['kind'], Tone> = {
  opened: 'neutral',
  policy: 'neutral',
  gate: 'success',
  approved: 'success',
  rejected: 'failure',
  override: 'failure',
  bypass: 'failure',
  running: 'running',
  deployed: 'success',
  ended: 'neutral',
}

/** What happened to a deployment, oldest first. What has no known time comes last. */
export function timelineOf(deployment: Deployment, decision: Decision): TimelineEntry[] {
  const entries = [
    opened(deployment, decision),
    ...evaluation(deployment),
    ...reviews(deployment),
    ...approvals(deployment),
    ...gates(decision),
    ...override(deployment),
    ...history(decision),
    ...bypass(deployment),
    ...marks(deployment),
    ...outcome(deployment),
  ]
  return entries.sort((a, b) => (a.at ?? '9').localeCompare(b.at ?? '9'))
}

const OPENERS = {
  api_key: (name: string) => `the API key “${name}”`,
  oidc_trust: (name: string) => `a CI job of the trust “${name}”`,
  account: (name: string) => name,
}

function opened({ created_at, author }: Deployment, { opened_by }: Decision): TimelineEntry {
  const by = opened_by ? OPENERS[opened_by.type](opened_by.name) : author
  return { at: created_at, kind: 'opened', title: 'Opened', by, note: null }
}

const DECISIONS: Record<string, string> = {
  approve: 'Policies evaluated: none blocks',
  block: 'Policies evaluated: they block',
  none: 'Policies evaluated: none of them decides',
}

function evaluation({ policy_evaluation: latest }: Deployment): TimelineEntry[] {
  if (latest === null) return []
  const title = DECISIONS[latest.decision] ?? 'Policies evaluated'
  return [{ at: latest.at, kind: 'policy', title, by: null, note: null }]
}

const REVIEWS: Record<string, string> = { approved: 'Approved on the code host', rejected: 'Rejected on the code host' }

function reviews(deployment: Deployment): TimelineEntry[] {
  return deployment.reviews.map(({ state, reviewer, comment, reviewed_at }) => ({
    at: reviewed_at,
    kind: state === 'approved' ? 'approved' : state === 'rejected' ? 'rejected' : 'opened',
    title: REVIEWS[state] ?? `Review on the code host: ${state}`,
    by: reviewer,
    note: comment,
  }))
}

function approvals(deployment: Deployment): TimelineEntry[] {
  return deployment.approvals.map(({ decision, principal, display_name, email, at, note, blocked }) => ({
    at,
    kind: decision === 'approved' ? 'approved' : 'rejected',
    title: decision === 'approved' ? (blocked ? 'Approved while policies blocked' : 'Approved') : 'Rejected',
    by: principal === 'api_key' ? `the API key “${display_name}”, not a person` : formatPerson(display_name, email),
    note,
  }))
}

function gates(decision: Decision): TimelineEntry[] {
  return decision.gates
    .filter(({ approved_at }) => approved_at !== null)
    .map(({ name, approved_at, approved_by }) => ({
      at: approved_at,
      kind: 'gate',
      title: `Gate ${name} approved`,
      by: approved_by === 'policies' ? 'policies' : null,
      note: null,
    }))
}

function override({ override: given }: Deployment): TimelineEntry[] {
  if (given === null) return []
  const names = given.policies.map(({ name }) => name).join(', ')
  const title = given.self_override ? 'Policies overridden by who opened the deployment' : 'Policies overridden'
  return [
    { at: given.at, kind: 'override', title, by: formatPerson(given.display_name, given.email), note: names || null },
  ]
}

const ACTIONS: Record<string, [kind: TimelineEntry['kind'], title: string]> = {
  'deployment.approve': ['approved', 'Approved'],
  'deployment.reject': ['rejected', 'Rejected'],
  'deployment.expire': ['ended', 'Expired'],
  'deployment.cancel': ['ended', 'Cancelled'],
  'deployment.replace_evidence': ['policy', 'Evidence replaced'],
  'deployment.ask_again': ['policy', 'Waits again'],
  'deployment.supersede': ['ended', 'Opened again'],
}

/**
 * Since when a deployment waits again that was approved before, and why; null for others. It was
 * not approved since, or it would not wait.
 */
export function findWaitAgain({ status }: Deployment, { history }: Decision): Decision['history'][number] | null {
  if (status !== 'pending_approval') return null
  const times = history.filter(({ action }) => action === 'deployment.ask_again')
  return times.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null
}

/** The bypass stands on the deployment, with who did it. */
function history(decision: Decision): TimelineEntry[] {
  return decision.history.flatMap(({ at, action, by, principal, reason }) => {
    const known = ACTIONS[action]
    if (known === undefined) return []
    const [kind, title] = known
    return [{ at, kind, title, by: principal === 'policy' ? `the policies ${by}` : by, note: reason }]
  })
}

function bypass({ bypass: done }: Deployment): TimelineEntry[] {
  if (done === null) return []
  const what = [...done.gates, ...done.policies.map((name) => `policy ${name}`)].join(', ')
  return [{ at: done.at, kind: 'bypass', title: 'Protection rules bypassed', by: done.actor, note: what || null }]
}

type Mark = NonNullable<Deployment['marks']>[number]

const MARKS: Record<NonNullable<Mark['status']>, [kind: TimelineEntry['kind'], title: string]> = {
  in_progress: ['running', 'Reported as deploying'],
  success: ['deployed', 'Reported as deployed'],
  failure: ['rejected', 'Reported as failed'],
  cancelled: ['ended', 'Reported as cancelled'],
}

/** With how far it can be trusted: only what the lane of the opener says changes the deployment. */
const TRUST: Record<Mark['trust'], string> = {
  verified: 'Verified by its token',
  self_reported: 'Reported by an API key',
  untrusted: 'Untrusted job',
  ui: 'By hand',
}

function marks({ marks: said = [] }: Deployment): TimelineEntry[] {
  return said.map(({ at, status, trust, by, version, url }) => {
    const [kind, title] = status === null ? (['opened', 'Described'] as const) : MARKS[status]
    const name = by.type === 'api_key' || by.type === 'oidc_trust' ? OPENERS[by.type](by.name) : by.name
    return { at, kind, title, by: name, note: [TRUST[trust], version, url].filter(Boolean).join(', ') }
  })
}

function outcome({ deployed_at, rollback_at, status, updated_at, marks: said = [] }: Deployment): TimelineEntry[] {
  const plain = { by: null, note: null }
  // What other lanes have said is not how it ended.
  const isMarked = (end: Mark['status'], time: string) => said.some(({ status, at }) => status === end && at === time)
  const isDeployed = deployed_at !== null && !(status === 'success' && isMarked('success', deployed_at))
  const hasFailed = status === 'failure' && !isMarked('failure', updated_at)
  return [
    ...(isDeployed ? [{ ...plain, at: deployed_at, kind: 'deployed' as const, title: 'Deployed' }] : []),
    ...(rollback_at ? [{ ...plain, at: rollback_at, kind: 'ended' as const, title: 'Rolled back' }] : []),
    ...(hasFailed ? [{ ...plain, at: updated_at, kind: 'rejected' as const, title: 'Failed' }] : []),
  ]
}
