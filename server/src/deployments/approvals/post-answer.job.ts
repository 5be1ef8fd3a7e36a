import { Type } from 'typebox'
import type { CodeHost, HostDeployment } from '../../codehosts/code-host.ts'
import type { Job } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import type { Answer } from './answer.store.ts'
import { hostComment } from './host-comment.ts'
import { POST_COMMENT, POST_DECISION } from './post-answer-job.ts'
import { findPosting, markPosted, type PostedPart } from './posting.store.ts'

const PAYLOAD = Type.Object({ org_id: Type.String(), answer_id: Type.String() })
type Payload = { org_id: string; answer_id: string }

/** Leaves a key's answer as a comment on the code host. */
export const postComment: Job<Services, Payload> = {
  ...POST_COMMENT,
  payload: PAYLOAD,
  run: (services, payload) =>
    postOnce(services, payload, 'comment', (host, deployment, answer) =>
      host.postComment(deployment, hostComment(answer), `comment:${answer.id}`),
    ),
}

/** Answers our protection rule on the code host. */
export const postDecision: Job<Services, Payload> = {
  ...POST_DECISION,
  payload: PAYLOAD,
  run: (services, payload) =>
    postOnce(services, payload, 'decision', (host, deployment, answer) =>
      host.postDecision(deployment, { decision: answer.decision, text: hostComment(answer) }, `decision:${answer.id}`),
    ),
}

type Post = (host: CodeHost, deployment: HostDeployment, answer: Answer) => Promise<void>

/** What is posted already is not posted again. A crash between the two repeats the call with the same key. */
async function postOnce(services: Services, { org_id, answer_id }: Payload, part: PostedPart, post: Post) {
  const { sql, codeHosts, clock } = services
  const posting = await findPosting(sql, org_id, answer_id, part)
  const host = posting && codeHosts.get(posting.provider)
  if (!host || posting.isPosted) return
  await post(host, posting.deployment, posting.answer)
  await markPosted(sql, org_id, answer_id, part, clock.now())
}
