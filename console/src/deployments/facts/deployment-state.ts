import type { Schema } from '../../api/client.ts'
import type { Tone } from '../../page/badges.tsx'

const STATES: Record<Exclude<Deployment['status'], 'pending_approval'>, DeploymentState> = {
  approved: { label: 'Approved', tone: 'success', icon: 'done' },
  rejected: { label: 'Rejected', tone: 'failure', icon: 'failed' },
  in_progress: { label: 'Deploying', tone: 'running', icon: 'running' },
  success: { label: 'Deployed', tone: 'success', icon: 'done' },
  failure: { label: 'Failed', tone: 'failure', icon: 'failed' },
  cancelled: { label: 'Cancelled', tone: 'neutral', icon: 'stopped' },
  expired: { label: 'Expired', tone: 'neutral', icon: 'stopped' },
  rolled_back: { label: 'Rolled back', tone: 'neutral', icon: 'back' },
}

/** The statuses that a list can be filtered by, in the order in which a deployment passes them. */
export const DEPLOYMENT_STATUSES = [
  'pending_approval',
  'approved',
  'rejected',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'expired',
  'rolled_back',
] as const satisfies DeploymentStatus[]

export const STATUS_NAMES: Record<DeploymentStatus, string> = {
  pending_approval: 'Waiting',
  approved: 'Approved',
  rejected: 'Rejected',
  in_progress: 'Deploying',
  success: 'Deployed',
  failure: 'Failed',
  cancelled: 'Cancelled',
  expired: 'Expired',
  rolled_back: 'Rolled back',
}

const FIELDS: Record<EvidencePage, RegExp> = {
  run: /\b(?:run|attempts|reports|attestations|artifacts)\b/,
  findings: /\bfindings\b/,
  issues: /\bissues\b/,
  uploads: /\bscans\b/,
  change: /\b(?:pull_request|reviews|checks)\b/,
}

/** In what its expression is written about, texts do not count. */
const TEXTS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g

export type Deployment = Schema<'Deployment'>

/** What the state follows from; deployments and the cells of the board have it. */
type StateFacts = Pick<Deployment, 'status' | 'custom_rule_state' | 'reviewers_state'> & {
  policy_decision: string | null
}

export type DeploymentState = {
  label: string
  tone: Tone
  icon: 'waiting' | 'blocked' | 'done' | 'failed' | 'running' | 'stopped' | 'back'
}

/** The state of a deployment in words. */
export function stateOf(facts: StateFacts): DeploymentState {
  if (facts.status !== 'pending_approval') return STATES[facts.status]
  if (facts.custom_rule_state === 'pending')
    return facts.policy_decision === 'block'
      ? { label: 'Blocked by policy', tone: 'failure', icon: 'blocked' }
      : { label: 'Waiting for approval', tone: 'waiting', icon: 'waiting' }
  const label = facts.reviewers_state === 'pending' ? 'Waiting for reviewers' : 'Waiting for the code host'
  return { label, tone: 'waiting', icon: 'waiting' }
}

/** A person with their address: two people may have the same name. Keys have none. */
export function formatPerson(name: string | null, email: string | null): string | null {
  return name === null || email === null ? (name ?? email) : `${name.replaceAll(/[<>]/g, '')} <${email}>`
}

/** The state with who decided: "Approved by Ada Lovelace". */
export function fullStateOf(deployment: Deployment): DeploymentState {
  const state = stateOf({ ...deployment, policy_decision: deployment.policy_evaluation?.decision ?? null })
  if (state.label !== 'Approved' && state.label !== 'Rejected') return state
  const decision = deployment.status
  const answer = deployment.approvals.findLast((approval) => approval.decision === decision)
  const review = deployment.reviews.findLast((each) => each.state === decision)
  const person = answer && formatPerson(answer.display_name, answer.email)
  const by = person ?? review?.reviewer ?? (decision === 'approved' && isByPolicy(deployment) ? 'policies' : null)
  return by === null ? state : { ...state, label: `${state.label} by ${by}` }
}

function isByPolicy({ policy_evaluation: evaluation }: Deployment): boolean {
  return evaluation?.answered === 'approved'
}

/** What is deployed: the version, or else the commit. */
export function versionOf({ version, commit_sha }: Pick<Deployment, 'version' | 'commit_sha'>): string {
  return version ?? commit_sha?.slice(0, 7) ?? 'Unknown commit'
}

type DeploymentStatus = Schema<'Deployment'>['status']

/** The pages that show what a rule has read, by the fields of the policy input that it names. */
export type EvidencePage = 'run' | 'findings' | 'issues' | 'uploads' | 'change'

/** Which pages show the evidence of a rule. Rules in other languages than CEL can have read anything. */
export function evidencePages(expression: string | null): EvidencePage[] {
  if (expression === null) return ['run', 'findings', 'issues']
  const code = expression.replace(TEXTS, '""')
  return (Object.keys(FIELDS) as EvidencePage[]).filter((page) => FIELDS[page].test(code))
}
