import { Type } from 'typebox'
import { truncate } from '../../../platform/text.ts'
import { type ActionSenders, type HostAction, HostRefusal } from '../../code-host.ts'
import type { DismissReason } from '../../host-alert.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { formatProjectPath, type Session } from './client.ts'
import { getApprovals, parseDeployment } from './deployments.ts'
import { parseJob } from './jobs.ts'
import { parseMergeRequestNumber } from './runs.ts'

export function createActionSenders(session: Session): ActionSenders {
  return {
    decision: (action) => sendDecision(session, action),
    comment: ({ target, text }) => sendNote(session, target, text),
    dismissal: (action) => sendDismissal(session, action),
    /** Opens a dismissed vulnerability again. Repeating it has no further effect. */
    reopening: ({ alert }) => sendMutation(session, REVERT, { id: formatVulnerabilityId(alert.number) }),
    commit_status: (action) => sendCommitStatus(session, action),
  }
}

const DESCRIPTION_CHARS_MAX = 255

const STATES = { success: 'success', failure: 'failed' } as const

/** A repeated status replaces the one before it. */
async function sendCommitStatus(
  { api }: Session,
  { repository, commit_sha, context, state, description, url }: Extract<HostAction, { type: 'commit_status' }>,
): Promise<void> {
  await api.send('POST', `${formatProjectPath(repository)}${encodePath`/statuses/${commit_sha}`}`, {
    name: context,
    state: STATES[state],
    description: truncate(description, DESCRIPTION_CHARS_MAX),
    ...(url === null ? {} : { target_url: url }),
  })
}

type Decision = Extract<HostAction, { type: 'decision' }>

/** GitLab refuses a longer comment of an approval. The whole text is then a note. */
const COMMENT_CHARS_MAX = 255

/** Where GitLab waits for the answer: `…/deployments/3/approval`, or the job to start. */
const APPROVAL = /\/projects\/\d{1,16}\/deployments\/(\d{1,16})\/approval$/
const MANUAL_JOB = /\/projects\/\d{1,16}\/jobs\/(\d{1,16})\/play$/

/**
 * Only the id is taken of the address, so that it cannot direct our token elsewhere, nor to another
 * project.
 */
async function sendDecision(session: Session, action: Decision): Promise<void> {
  const { target, decision, text } = action
  const address = target.callback_url ?? ''
  const [, deployment] = APPROVAL.exec(address) ?? []
  if (deployment !== undefined) return sendApproval(session, action, deployment)
  const [, job] = MANUAL_JOB.exec(address) ?? []
  if (job === undefined) throw new HostRefusal(409, 'GitLab waits for no answer to this deployment.')
  // GitLab has no way to reject the start of a manual job: it stays unstarted, and the note says
  // why.
  if (decision === 'approved') await startJob(session, target, job)
  await sendNote(session, target, text)
}

async function sendApproval(session: Session, action: Decision, id: string): Promise<void> {
  const { target, decision, text } = action
  const path = `${formatProjectPath(target.repository)}${encodePath`/deployments/${id}`}`
  await sendAnswer(session, action, path)
  if (decision === 'approved') await startApproved(session, target, path)
  if (text.length > COMMENT_CHARS_MAX) await sendNote(session, target, text)
}

async function sendAnswer(session: Session, { decision, text }: Decision, path: string): Promise<void> {
  const comment = truncate(text, COMMENT_CHARS_MAX)
  try {
    await session.api.send('POST', `${path}/approval`, { status: decision, comment })
  } catch (error) {
    const isDone = error instanceof HostRefusal && (await hasAnswered(session, path, decision))
    if (!isDone) throw error
  }
}

/** GitLab refuses the same answer a second time. */
async function hasAnswered(session: Session, path: string, decision: Decision['decision']): Promise<boolean> {
  const found = await session.api.read(path)
  const self = await session.self()
  if (found === null || self === null) return false
  const own = getApprovals(parseDeployment(found)).filter(({ user }) => String(user?.id) === self.id)
  return own.some(({ status }) => status === decision)
}

/**
 * GitLab does not start the job of an approved deployment. After the last approval, its job is like
 * a manual one.
 */
async function startApproved(session: Session, target: Decision['target'], path: string): Promise<void> {
  const found = await session.api.read(path)
  const { status, deployable: job } = found === null ? { status: null, deployable: null } : parseDeployment(found)
  if (status === 'created' && job?.status === 'manual') await startJob(session, target, String(job.id))
}

async function startJob({ api }: Session, { repository }: Decision['target'], id: string): Promise<void> {
  const path = `${formatProjectPath(repository)}${encodePath`/jobs/${id}`}`
  try {
    await api.send('POST', `${path}/play`)
  } catch (error) {
    const found = error instanceof HostRefusal ? await api.read(path) : null
    const isStarted = found !== null && parseJob(found).status !== 'manual'
    if (!isStarted) throw error
  }
}

const NOTE_CHARS_MAX = 100_000

const Pipeline = Type.Object({ sha: Text, ref: Maybe(Text) })

type Target = { repository: { id: string; full_name: string }; run_id: string }

/**
 * Writes a note on the merge request that a pipeline is for, else on its commit. A note that is
 * there already is not written again.
 */
async function sendNote({ api }: Session, { repository, run_id }: Target, text: string): Promise<void> {
  const project = formatProjectPath(repository)
  const found = await api.read(`${project}${encodePath`/pipelines/${run_id}`}`)
  if (found === null) throw new HostRefusal(404, `GitLab has no pipeline ${run_id}.`)
  const { sha, ref } = readAs(Pipeline, found)
  const note = truncate(text, NOTE_CHARS_MAX)
  const number = parseMergeRequestNumber(ref)
  const [path, field] =
    number === null
      ? [`${project}${encodePath`/repository/commits/${sha}/comments`}`, 'note']
      : [`${project}${encodePath`/merge_requests/${number}/notes`}`, 'body']
  const written = await api.readAll(path, {}, parseNoteText)
  if (!written.includes(note)) await api.send('POST', path, { [field]: note })
}

const Note = Type.Object({ note: Maybe(Text), body: Maybe(Text) })

/** Comments on commits have `note`, notes on merge requests `body`. */
function parseNoteText(value: unknown): string | null {
  const { note, body } = readAs(Note, value)
  return note ?? body ?? null
}

/** GitLab's word for each of our reasons. Some share the nearest one. */
const WORDS: Readonly<Record<DismissReason, string>> = {
  false_positive: 'FALSE_POSITIVE',
  inaccurate: 'FALSE_POSITIVE',
  used_in_tests: 'USED_IN_TESTS',
  not_used: 'NOT_APPLICABLE',
  revoked: 'MITIGATING_CONTROL',
  mitigated: 'MITIGATING_CONTROL',
  wont_fix: 'ACCEPTABLE_RISK',
  tolerable_risk: 'ACCEPTABLE_RISK',
  no_capacity: 'ACCEPTABLE_RISK',
  risk_accepted: 'ACCEPTABLE_RISK',
}

const DISMISSAL_CHARS_MAX = 50_000

const DISMISS = `mutation($id: VulnerabilityID!, $comment: String, $reason: VulnerabilityDismissalReason) {
  result: vulnerabilityDismiss(input: { id: $id, comment: $comment, dismissalReason: $reason }) { errors }
}`

const REVERT = `mutation($id: VulnerabilityID!) {
  result: vulnerabilityRevertToDetected(input: { id: $id }) { errors }
}`

/** The REST API takes neither the reason nor the comment. Repeating it has no further effect. */
function sendDismissal(
  session: Session,
  { alert, reason, comment }: Extract<HostAction, { type: 'dismissal' }>,
): Promise<void> {
  // A reason that is a word of GitLab stays: the vulnerability was dismissed there before.
  const upper = reason.toUpperCase()
  const ownWord = Object.values(WORDS).includes(upper) ? upper : WORDS.wont_fix
  const word = Object.hasOwn(WORDS, reason) ? WORDS[reason as DismissReason] : ownWord
  const text = comment === null ? null : truncate(comment, DISMISSAL_CHARS_MAX)
  return sendMutation(session, DISMISS, { id: formatVulnerabilityId(alert.number), comment: text, reason: word })
}

function formatVulnerabilityId(number: number): string {
  return `gid://gitlab/Vulnerability/${number}`
}

const Result = Type.Object({ result: Maybe(Type.Object({ errors: Maybe(Type.Array(Text)) })) })

async function sendMutation({ api }: Session, query: string, variables: Record<string, unknown>): Promise<void> {
  const { result } = readAs(Result, await api.query(query, variables))
  const [error] = result?.errors ?? []
  if (!result || error !== undefined)
    throw new HostRefusal(409, `GitLab did not change the vulnerability: ${error ?? 'it does not exist'}.`)
}
