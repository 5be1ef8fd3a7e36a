import type { AnsweredDeployment } from '../../codehosts/answer-host.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DeploymentKey } from '../deployment-state.ts'

/** An approval or rejection of a deployment by one principal. */
export type Answer = {
  id: string
  principal_type: 'api_key' | 'user'
  principal_id: string
  principal_name: string
  decision: 'approved' | 'rejected'
  reason: string
  comment: string | null
  answered_at: Date
}

const ANSWERS_MAX = 1000

export async function insertAnswer(tx: Tx, { org_id, id }: DeploymentKey, answer: Answer): Promise<void> {
  await tx`
    insert into deployment_answers (
      org_id, id, deployment_id, principal_type, principal_id, principal_name, decision, reason, comment, answered_at
    )
    values (
      ${org_id}, ${answer.id}, ${id}, ${answer.principal_type}, ${answer.principal_id}, ${answer.principal_name},
      ${answer.decision}, ${answer.reason}, ${answer.comment}, ${answer.answered_at}
    )`
}

/** Answers, oldest first. */
export async function listAnswers(db: Db, { org_id, id }: DeploymentKey): Promise<Answer[]> {
  return db<Answer[]>`
    select id, principal_type, principal_id, principal_name, decision, reason, comment, answered_at
    from deployment_answers
    where org_id = ${org_id}
      and deployment_id = ${id}
    order by answered_at, id
    limit ${ANSWERS_MAX}`
}

/** Adds an answer to the `approvals` of a locked deployment. `approval` has the wire form. */
export async function appendApproval(tx: Tx, { org_id, id }: DeploymentKey, approval: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set approvals = approvals || ${tx.json([approval] as never)}::jsonb, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

/** Stores the `override` of a locked deployment. `override` has the wire form. */
export async function writeOverride(tx: Tx, { org_id, id }: DeploymentKey, override: object, at: Date): Promise<void> {
  await tx`
    update deployments
    set override = ${tx.json(override as never)}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}`
}

type AnswerKey = { org_id: string; answer_id: string }

/** The two messages about an answer that are posted to the code host. */
export type PostedPart = 'comment' | 'decision'

/** An answer with its deployment. `isPosted` is true if the code host has accepted the part. */
type Posting = { provider: string; deployment: AnsweredDeployment; answer: Answer; isPosted: boolean }

type PostingRow = Answer & AnsweredDeployment & { provider: string; is_posted: boolean }

export async function findPosting(db: Db, { org_id, answer_id }: AnswerKey, part: PostedPart): Promise<Posting | null> {
  const [row] = await db<PostingRow[]>`
    select answer.id, answer.principal_type, answer.principal_id, answer.principal_name, answer.decision,
      answer.reason, answer.comment, answer.answered_at, answer.${postedAt(db, part)} is not null as is_posted,
      coalesce(deployment.provider, '') as provider, deployment.repository_full_name as repository,
      deployment.environment, deployment.commit_sha, deployment.github_run_id as run_id, deployment.callback_url
    from deployment_answers answer
    join deployments deployment on deployment.org_id = answer.org_id and deployment.id = answer.deployment_id
    where answer.org_id = ${org_id}
      and answer.id = ${answer_id}`
  if (!row) return null
  const { provider, is_posted, repository, environment, commit_sha, run_id, callback_url, ...answer } = row
  const deployment = { repository, environment, commit_sha, run_id, callback_url }
  return { provider, deployment, answer, isPosted: is_posted }
}

/** Records that the code host has accepted a part of an answer. */
export async function markPosted(db: Db, { org_id, answer_id }: AnswerKey, part: PostedPart, at: Date): Promise<void> {
  await db`
    update deployment_answers
    set ${postedAt(db, part)} = ${at}
    where org_id = ${org_id}
      and id = ${answer_id}`
}

function postedAt(db: Db, part: PostedPart) {
  return part === 'comment' ? db`comment_posted_at` : db`decision_posted_at`
}
