import { shortened } from '../../../platform/shortened.ts'
import { type HostAction, HostRefusal } from '../../code-host.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { approvalsOf, parseDeployment } from '../objects/deployment.parser.ts'
import { parseJob } from '../objects/job.parser.ts'
import { postNote } from './post-note.ts'

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
export async function sendDecision(session: Session, action: Decision): Promise<void> {
  const address = action.target.callback_url ?? ''
  const [, deployment] = APPROVAL.exec(address) ?? []
  if (deployment !== undefined) return approve(session, action, deployment)
  const [, job] = MANUAL_JOB.exec(address) ?? []
  if (job !== undefined) return startOrLeave(session, action, job)
  throw new HostRefusal(409, 'GitLab waits for no answer to this deployment.')
}

export function sendComment(
  session: Session,
  { target, text }: Extract<HostAction, { type: 'comment' }>,
): Promise<void> {
  return postNote(session, target, text)
}

async function approve(session: Session, action: Decision, id: string): Promise<void> {
  const { target, decision, text } = action
  const path = `${projectPath(target.repository)}${restPath`/deployments/${id}`}`
  await answer(session, action, path)
  if (decision === 'approved') await startApproved(session, target, path)
  if (text.length > COMMENT_CHARS_MAX) await postNote(session, target, text)
}

async function answer(session: Session, { decision, text }: Decision, path: string): Promise<void> {
  const comment = shortened(text, COMMENT_CHARS_MAX)
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
  const own = approvalsOf(parseDeployment(found)).filter(({ user }) => String(user?.id) === self.id)
  return own.some(({ status }) => status === decision)
}

/**
 * GitLab does not start the job of an approved deployment. After the last approval, its job is like
 * a manual one.
 */
async function startApproved(session: Session, target: Decision['target'], path: string): Promise<void> {
  const found = await session.api.read(path)
  const { status, deployable: job } = found === null ? { status: null, deployable: null } : parseDeployment(found)
  if (status === 'created' && job?.status === 'manual') await start(session, target, String(job.id))
}

/**
 * GitLab has no way to reject the start of a manual job: it stays unstarted, and the note says why.
 */
async function startOrLeave(session: Session, { target, decision, text }: Decision, id: string): Promise<void> {
  if (decision === 'approved') await start(session, target, id)
  await postNote(session, target, text)
}

async function start({ api }: Session, { repository }: Decision['target'], id: string): Promise<void> {
  const path = `${projectPath(repository)}${restPath`/jobs/${id}`}`
  try {
    await api.send('POST', `${path}/play`)
  } catch (error) {
    const found = error instanceof HostRefusal ? await api.read(path) : null
    const isStarted = found !== null && parseJob(found).status !== 'manual'
    if (!isStarted) throw error
  }
}
