import type { HostDeployment } from '../../codehosts/code-host.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Answer } from './answer.store.ts'

export type PostedPart = 'comment' | 'decision'

/** An answer, the deployment that it is about, and whether the code host has taken this part of it. */
export type Posting = { provider: string; deployment: HostDeployment; answer: Answer; isPosted: boolean }

type Row = Answer & HostDeployment & { provider: string; is_posted: boolean }

export async function findPosting(db: Db, orgId: string, answerId: string, part: PostedPart): Promise<Posting | null> {
  const [row] = await db<Row[]>`
    select answer.id, answer.principal_type, answer.principal_id, answer.principal_name, answer.decision,
      answer.reason, answer.comment, answer.answered_at, answer.${postedAt(db, part)} is not null as is_posted,
      coalesce(deployment.provider, '') as provider, deployment.repository_full_name as repository,
      deployment.environment, deployment.commit_sha, deployment.github_run_id as run_id, deployment.callback_url
    from deployment_answers answer
    join deployments deployment on deployment.org_id = answer.org_id and deployment.id = answer.deployment_id
    where answer.org_id = ${orgId}
      and answer.id = ${answerId}`
  if (!row) return null
  const { provider, is_posted, repository, environment, commit_sha, run_id, callback_url, ...answer } = row
  const deployment = { repository, environment, commit_sha, run_id, callback_url }
  return { provider, deployment, answer, isPosted: is_posted }
}

/** Notes that the code host has taken a part of an answer. */
export async function markPosted(db: Db, orgId: string, answerId: string, part: PostedPart, at: Date): Promise<void> {
  await db`
    update deployment_answers
    set ${postedAt(db, part)} = ${at}
    where org_id = ${orgId}
      and id = ${answerId}`
}

function postedAt(db: Db, part: PostedPart) {
  return part === 'comment' ? db`comment_posted_at` : db`decision_posted_at`
}
