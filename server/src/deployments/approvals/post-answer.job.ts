import { type Static, Type } from 'typebox'
import type { AnsweredDeployment, AnswerHost } from '../../codehosts/answer-host.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { Job } from '../../platform/queue/job.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { DeploymentState } from '../deployment-state.ts'
import { type Answer, findPosting, markPosted, type PostedPart } from './answer.store.ts'

const Payload = Type.Object({ org_id: Type.String(), answer_id: Type.String() })
type Payload = Static<typeof Payload>

const ATTEMPTS_MAX = 12

/** Posts an API key's answer as a comment on the code host. */
export const postComment: Job<Services, Payload> = {
  name: 'deployments.post-comment',
  payload: Payload,
  attemptsMax: ATTEMPTS_MAX,
  run: (services, payload) =>
    postOnce(services, payload, 'comment', (host, deployment, answer) =>
      host.postComment(deployment, commentText(answer), `comment:${answer.id}`),
    ),
}

/** Posts the decision on the service's own protection rule to the code host. */
export const postDecision: Job<Services, Payload> = {
  name: 'deployments.post-decision',
  payload: Payload,
  attemptsMax: ATTEMPTS_MAX,
  run: (services, payload) =>
    postOnce(services, payload, 'decision', (host, deployment, answer) =>
      host.postDecision(deployment, { decision: answer.decision, text: commentText(answer) }, `decision:${answer.id}`),
    ),
}

/**
 * Queues the comment, and the decision if the answer is the last one required. Does nothing without
 * a code host.
 */
export async function postAnswer(
  { answerHosts }: Services,
  tx: Tx,
  { org_id, provider }: DeploymentState,
  { answer_id, isLast }: { answer_id: string; isLast: boolean },
): Promise<void> {
  if (provider === null || !answerHosts.has(provider)) return
  await enqueue(tx, postComment, { org_id, answer_id })
  if (isLast) await enqueue(tx, postDecision, { org_id, answer_id })
}

type Post = (host: AnswerHost, deployment: AnsweredDeployment, answer: Answer) => Promise<void>

/**
 * Skips a part that is already posted. After a crash before `markPosted`, the call is repeated with
 * the same key.
 */
async function postOnce(services: Services, payload: Payload, part: PostedPart, post: Post): Promise<void> {
  const { sql, answerHosts, clock } = services
  const posting = await findPosting(sql, payload, part)
  const host = posting && answerHosts.get(posting.provider)
  if (!host || posting.isPosted) return
  await post(host, posting.deployment, posting.answer)
  await markPosted(sql, payload, part, clock.now())
}

const HEADINGS = { approved: 'Approved', rejected: 'Rejected' }

/**
 * The Markdown comment on an API key's answer: states that a key answered, and quotes its reason
 * (specification, "Approve and reject rules" 1). Text of the caller is quoted line by line, so that
 * it cannot leave the quotation.
 */
export function commentText({ decision, principal_name, reason, comment }: Answer): string {
  const key = `**${escapeMarkdown(principal_name)}**`
  const heading = `${HEADINGS[decision]} through Shiplock by the API key ${key}, not by a person.`
  return [heading, quote(reason), ...(comment === null ? [] : [quote(comment)])].join('\n\n')
}

function quote(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`)
    .join('\n')
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+.!|~@-]/g, '\\$&')
}
