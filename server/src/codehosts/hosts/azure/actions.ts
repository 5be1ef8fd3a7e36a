import type { KeyObject } from 'node:crypto'
import { Type } from 'typebox'
import { openSealedText } from '../../../platform/crypto/sealed-text.ts'
import { truncate } from '../../../platform/text.ts'
import { type ActionSenders, type HostAction, HostRefusal } from '../../code-host.ts'
import type { DismissReason } from '../../host-alert.ts'
import type { DecisionTarget } from '../../host-deployment.ts'
import { Id, readAs } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { acceptRefusal } from '../../kit/rest-error.ts'
import type { AzureApi } from './client.ts'

const DESCRIPTION_CHARS_MAX = 400
const GENRE = 'shiplock'

export function createActionSenders(api: AzureApi, sealingKey: KeyObject): ActionSenders {
  return {
    decision: (action) => sendDecision(api, sealingKey, action),
    comment: (action) => sendComment(api, sealingKey, action),
    dismissal: (action) => sendDismissal(api, action),
    /** Opens a dismissed alert again. Repeating it has no further effect. */
    reopening: ({ repository, alert }) => sendAlertChange(api, { repository, alert }, { state: 'active' }),
    commit_status: (action) => sendCommitStatus(api, action),
  }
}

/** A newer status with the same context replaces an older one. */
async function sendCommitStatus(api: AzureApi, action: Extract<HostAction, { type: 'commit_status' }>): Promise<void> {
  const { repository, commit_sha, context, state, description, url } = action
  const path = await api.fetchRepositoryPath(repository)
  if (path === null) throw new HostRefusal(404, 'The repository does not exist, or may not be read.')
  // `genre/name`, as the status is shown.
  const at = context.lastIndexOf('/')
  const [genre, name] = at < 0 ? [GENRE, context] : [context.slice(0, at), context.slice(at + 1)]
  await api.request({
    method: 'POST',
    path: path + encodePath`/commits/${commit_sha}/statuses`,
    body: {
      state: state === 'success' ? 'succeeded' : 'failed',
      description: truncate(description, DESCRIPTION_CHARS_MAX),
      context: { genre, name },
      ...(url === null ? {} : { targetUrl: url }),
    },
  })
}

/** The label that the token of a check is sealed with. */
export const CHECK_LABEL = 'azure check'

type Decision = Extract<HostAction, { type: 'decision' }>
type Comment = Extract<HostAction, { type: 'comment' }>

/** Answers the check of an environment. Its log states the reason. */
async function sendDecision(api: AzureApi, sealingKey: KeyObject, { target, decision, text }: Decision): Promise<void> {
  const { task, authorization } = openTask(target, sealingKey)
  // The answer counts, also if the log is refused.
  await acceptRefusal(sendLog(api, task, authorization, text), 'any')
  await api.request({
    method: 'POST',
    path: `${planPath(task)}/events`,
    body: {
      name: 'TaskCompleted',
      taskId: task.task,
      jobId: task.job,
      result: decision === 'approved' ? 'succeeded' : 'failed',
    },
    headers: { authorization },
  })
}

/** Adds a text to the log of the check, while it waits. */
async function sendComment(api: AzureApi, sealingKey: KeyObject, { target, text }: Comment): Promise<void> {
  const { task, authorization } = openTask(target, sealingKey)
  await sendLog(api, task, authorization, text)
}

/** The token was issued for the check. It is sent to our configured address only. */
function openTask(
  { callback_url, callback_secret }: DecisionTarget,
  sealingKey: KeyObject,
): { task: CheckTask; authorization: string } {
  const task = parseCheckAddress(callback_url ?? '')
  if (task === null || callback_secret === null)
    throw new HostRefusal(409, 'No check of the environment asked Shiplock, so there is nothing to answer.')
  return { task, authorization: `Bearer ${openSealedText(sealingKey, CHECK_LABEL, callback_secret)}` }
}

function planPath({ project, hub, plan }: CheckTask): string {
  return encodePath`/${project}/_apis/distributedtask/hubs/${hub}/plans/${plan}`
}

const Log = Type.Object({ id: Id })

/** A log is created, filled, and then shown with the record of the task ("Invoke checks"). */
async function sendLog(api: AzureApi, task: CheckTask, authorization: string, text: string): Promise<void> {
  const headers = { authorization }
  const path = planPath(task)
  const log = { path: `logs\\${task.task}` }
  const created = await api.request({ method: 'POST', path: `${path}/logs`, body: log, headers })
  const { id } = readAs(Log, created.body)
  const body = Buffer.from(`${text}\n`)
  await api.request({ method: 'POST', path: path + encodePath`/logs/${id}`, body, headers })
  await api.request({
    method: 'PATCH',
    path: path + encodePath`/timelines/${task.timeline}/records`,
    body: { count: 1, value: [{ id: task.task, log: { id, ...log } }] },
    headers,
  })
}

/** The task of an "Invoke REST API" check that waits for our answer. All are GUIDs but the hub. */
type CheckTask = {
  project: string
  hub: string
  plan: string
  job: string
  timeline: string
  task: string
}

const GUID = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
const CHECK_PATH = new RegExp(`^/${GUID}/_apis/distributedtask/hubs/([a-z]{1,30})/plans/${GUID}/events$`)
const ID = new RegExp(`^${GUID}$`)

/**
 * The path that the answer goes to, after the name of the organization. It is what is stored of the
 * check; the organization and the origin are always those of the connection.
 */
export function formatCheckAddress({ project, hub, plan, job, timeline, task }: CheckTask): string {
  const path = encodePath`/${project}/_apis/distributedtask/hubs/${hub}/plans/${plan}/events`
  return `${path}?${new URLSearchParams({ job, timeline, task })}`
}

/** Null for an address of another form. */
function parseCheckAddress(address: string): CheckTask | null {
  const [path = '', search = ''] = address.split('?')
  const [, project, hub, plan] = CHECK_PATH.exec(path) ?? []
  const query = new URLSearchParams(search)
  const [job, timeline, task] = ['job', 'timeline', 'task'].map((name) => ID.exec(query.get(name) ?? '')?.[1])
  return project && hub && plan && job && timeline && task ? { project, hub, plan, job, timeline, task } : null
}

/** Advanced Security's word for each of our reasons. Some share the nearest one. */
const WORDS: Readonly<Record<DismissReason, string>> = {
  false_positive: 'falsePositive',
  inaccurate: 'falsePositive',
  used_in_tests: 'acceptedRisk',
  not_used: 'notDistributed',
  wont_fix: 'acceptedRisk',
  tolerable_risk: 'acceptedRisk',
  no_capacity: 'acceptedRisk',
  revoked: 'fixed',
  risk_accepted: 'acceptedRisk',
  mitigated: 'acceptedRisk',
}

/** The word for a reason that this version does not know. */
const OTHER = WORDS.wont_fix
/** Words that alerts were dismissed with before, in Azure DevOps. */
const OWN_WORDS = ['fixed', 'acceptedRisk', 'falsePositive', 'agreedToGuidance', 'toolUpgrade', 'notDistributed']

type Dismissal = Extract<HostAction, { type: 'dismissal' }>

/** Dismisses an alert. Repeating it has no further effect. */
function sendDismissal(api: AzureApi, { repository, alert, reason, comment }: Dismissal): Promise<void> {
  const ownWord = OWN_WORDS.includes(reason) ? reason : OTHER
  const word = Object.hasOwn(WORDS, reason) ? WORDS[reason as DismissReason] : ownWord
  const change = {
    state: 'dismissed',
    dismissedReason: word,
    ...(comment === null ? {} : { dismissedComment: comment }),
  }
  return sendAlertChange(api, { repository, alert }, change)
}

async function sendAlertChange(
  api: AzureApi,
  { repository, alert }: Pick<Dismissal, 'repository' | 'alert'>,
  body: Record<string, string>,
): Promise<void> {
  const project = await api.fetchProject(repository)
  if (project === null) throw new HostRefusal(404, 'The repository does not exist, or may not be read.')
  const path = encodePath`/${project}/_apis/alert/repositories/${repository.id}/alerts/${alert.number}`
  await api.request({ method: 'PATCH', path, body, security: true })
}
