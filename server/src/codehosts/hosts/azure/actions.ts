import type { KeyObject } from 'node:crypto'
import { Type } from 'typebox'
import { openSealedText } from '../../../platform/crypto/sealed-text.ts'
import { type HostAction, HostRefusal } from '../../code-host.ts'
import type { DecisionTarget } from '../../host-deployment.ts'
import { Id, readAs } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { AzureApi } from './client.ts'
import { type CheckTask, parseCheckAddress } from './actions/check-address.ts'

/** The label that the token of a check is sealed with. */
export const CHECK_LABEL = 'azure check'

type Decision = Extract<HostAction, { type: 'decision' }>
type Comment = Extract<HostAction, { type: 'comment' }>

/** Answers the check of an environment. Its log states the reason. */
export async function answerCheck(
  api: AzureApi,
  sealingKey: KeyObject,
  { target, decision, text }: Decision,
): Promise<void> {
  const { task, authorization } = taskOf(target, sealingKey)
  // The answer counts, also if the log is refused.
  await writeLog(api, task, authorization, text).catch(ignoreRefusal)
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
export async function commentCheck(api: AzureApi, sealingKey: KeyObject, { target, text }: Comment): Promise<void> {
  const { task, authorization } = taskOf(target, sealingKey)
  await writeLog(api, task, authorization, text)
}

/** The token was issued for the check. It is sent to our configured address only. */
function taskOf(
  { callback_url, callback_secret }: DecisionTarget,
  sealingKey: KeyObject,
): { task: CheckTask; authorization: string } {
  const task = parseCheckAddress(callback_url ?? '')
  if (task === null || callback_secret === null)
    throw new HostRefusal(409, 'No check of the environment asked Shiplock, so there is nothing to answer.')
  return { task, authorization: `Bearer ${openSealedText(sealingKey, CHECK_LABEL, callback_secret)}` }
}

function planPath({ project, hub, plan }: CheckTask): string {
  return restPath`/${project}/_apis/distributedtask/hubs/${hub}/plans/${plan}`
}

const Log = Type.Object({ id: Id })

/** A log is created, filled, and then shown with the record of the task ("Invoke checks"). */
async function writeLog(api: AzureApi, task: CheckTask, authorization: string, text: string): Promise<void> {
  const headers = { authorization }
  const path = planPath(task)
  const log = { path: `logs\\${task.task}` }
  const created = await api.request({ method: 'POST', path: `${path}/logs`, body: log, headers })
  const { id } = readAs(Log, created.body)
  const body = Buffer.from(`${text}\n`)
  await api.request({ method: 'POST', path: path + restPath`/logs/${id}`, body, headers })
  await api.request({
    method: 'PATCH',
    path: path + restPath`/timelines/${task.timeline}/records`,
    body: { count: 1, value: [{ id: task.task, log: { id, ...log } }] },
    headers,
  })
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof HostRefusal)) throw error
}
