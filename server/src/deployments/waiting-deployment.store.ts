import type { EvidenceReplaced } from '../ci/runs/run.events.ts'
import type { Db } from '../platform/db/sql.ts'
import { buildTimeoutMinutes } from './deployment-state.store.ts'
import type { DeploymentKey, DeploymentState } from './deployment-state.ts'

/** Of one organization, so that those of others are evaluated beside any number of them. */
const UNEVALUATED_MAX = 100

/**
 * Deployments of all organizations that were created before `createdBefore` and whose policies were
 * never evaluated, although our rule is not answered; and waiting ones that an earlier version of a
 * policy has decided until `now`. Of each organization, the oldest ones.
 */
export async function listUnevaluated(
  db: Db,
  { createdBefore, now }: { createdBefore: Date; now: Date },
): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from (
      select org_id, id, created_at, row_number() over (partition by org_id order by created_at, id) as place
      from deployments
      where (policies_asked_at is null and custom_rule_state = 'pending' and created_at <= ${createdBefore})
        or (policies_again_at <= ${now} and custom_rule_state = 'pending' and status = 'pending_approval')
    ) as unevaluated
    where place <= ${UNEVALUATED_MAX}
    order by place, created_at
    limit 1000`
}

/**
 * Selects waiting deployments of an organization: all, those of a run or of one of its commits, or
 * those of `owner/name` in any case.
 */
export type WaitingFilter = { run?: { id: string; commits: string[] }; repository?: string }

/** Waiting deployments, longest waiting first. */
export async function listWaiting(db: Db, orgId: string, filter: WaitingFilter): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where org_id = ${orgId}
      and status = 'pending_approval'
      and custom_rule_state = 'pending'
      ${isSelected(db, filter)}
    order by created_at, id
    limit 1000`
}

function isSelected(db: Db, { run, repository }: WaitingFilter) {
  return db`
    ${run === undefined ? db`` : db`and (pipeline_run_id = ${run.id} or commit_sha = any(${run.commits}))`}
    ${repository === undefined ? db`` : db`and lower(repository_full_name) = lower(${repository})`}`
}

const ASKED_DAYS = 30

/** So many that nobody keeps an approval from being asked again by making others. */
const UNUSED_MAX = 10_000

/**
 * Approved deployments of the last 30 days whose approval no client has read, newest first. Whoever
 * opens an older one again asks its policies, too.
 */
export async function listUnused(
  db: Db,
  orgId: string,
  { filter, now }: { filter: WaitingFilter; now: Date },
): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where org_id = ${orgId}
      and status = 'approved'
      and id in (
        select deployment_id
        from opened_gates
        where org_id = ${orgId}
          and unread
          and created_at >= ${now}::timestamptz - make_interval(days => ${ASKED_DAYS})
      )
      ${isSelected(db, filter)}
    order by created_at desc, id desc
    limit ${UNUSED_MAX}`
}

/** Which of some runs and commits have deployments. */
export async function listDeployed(
  db: Db,
  orgId: string,
  about: readonly { run_id: string; commit_sha: string | null }[],
): Promise<Set<string | null>> {
  const rows = await db<{ id: string }[]>`
    select pipeline_run_id as id
    from deployments
    where org_id = ${orgId}
      and pipeline_run_id = any(${about.map(({ run_id }) => run_id)})
    union
    select commit_sha
    from deployments
    where org_id = ${orgId}
      and commit_sha = any(${about.flatMap(({ commit_sha }) => commit_sha ?? [])})`
  return new Set(rows.map(({ id }) => id))
}

/** `is_open`: the deployment waits, or nobody has read its approval. */
type Asked = { id: string; asked_at: Date; is_open: boolean }

/**
 * The deployments of the last 30 days whose policies were asked with evidence that has gone, newest
 * first. What policies were asked with is not known of deployments that were asked before it was
 * stored; it was evidence of their own attempt. Of one that was asked with too much to store,
 * anything of its commit can have been.
 */
export async function listAskedWith(
  db: Db,
  { org_id, run_id, attempt = 1, repository, branch, since, at }: EvidenceReplaced,
  commits: string[],
): Promise<Asked[]> {
  const piece = { run_id, attempt }
  const place = run_id
    ? db`(
          (pipeline_run_id = ${run_id} and attempt = ${attempt})
          or (
            (pipeline_run_id = ${run_id} or commit_sha = any(${commits}))
            and (
              asked_evidence @> ${db.json([{ pieces: [piece] }] as never)}::jsonb
              or jsonb_path_exists(asked_evidence, '$[*] ? (@.scope != "attempt" && @.omitted > 0)')
            )
          )
        )`
    : db`lower(repository_full_name) = lower(${repository ?? ''})
        and (${branch ?? null}::text is null or branch = branch_name(${branch ?? null}))`
  return db<Asked[]>`
    select id, policies_asked_at as asked_at,
      status = 'pending_approval' or exists (
        select from opened_gates gate
        where gate.org_id = deployments.org_id
          and gate.deployment_id = deployments.id
          and gate.unread
      ) as is_open
    from deployments
    where org_id = ${org_id}
      and ${place}
      and created_at between ${at}::timestamptz - make_interval(days => ${ASKED_DAYS}) and ${at}::timestamptz
      and policies_asked_at >= ${since}::timestamptz
      and policy_evaluation is not null
    order by created_at desc, id desc
    limit 100`
}

/**
 * The deployments of opened gates of a run's attempt that are waiting, or approved and marked by
 * nobody. Those of code hosts follow what their host says. What became of one whose gate was opened
 * again after its approval was used, the end of the run does not say.
 */
export async function listUnmarked(db: Db, orgId: string, runId: string, attempt: number): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where org_id = ${orgId}
      and pipeline_run_id = ${runId}
      and attempt = ${attempt}
      and status in ('pending_approval', 'approved')
      and host_id is null
      and not exists (
        select
        from opened_gates gate
        where gate.org_id = deployments.org_id
          and gate.deployment_id = deployments.id
          and gate.superseded_by is not null
      )
    order by id
    limit 1000`
}

/**
 * Whether a run's attempt deploys more than once: to several environments, or by several jobs. A
 * gate that was opened anew for the same job is not another deployment.
 */
export async function hasSeveralDeployments(
  db: Db,
  { org_id, run_id, attempt }: { org_id: string; run_id: string; attempt: number },
): Promise<boolean> {
  const [row] = await db<[{ is_several: boolean }]>`
    select count(distinct lower(environment)) > 1
      or count(distinct (environment, coalesce(job_id, ''))) filter (where host_id is null) > 1 as is_several
    from deployments
    where org_id = ${org_id}
      and pipeline_run_id = ${run_id}
      and attempt = ${attempt}`
  return row.is_several
}

/** Deployments of all organizations that were not answered in time, longest overdue first. */
export async function listOverdue(db: Db, now: Date) {
  return db<(DeploymentKey & Pick<DeploymentState, 'timeout_minutes'>)[]>`
    select org_id, id, ${buildTimeoutMinutes(db)} as timeout_minutes
    from deployments
    where answer_until <= ${now}
      and custom_rule_state = 'pending'
    order by answer_until
    limit 1000`
}

export type WaitingDeployments = { waiting: number; oldest_at: Date | null; overdue: number }
/**
 * The deployments of all organizations that wait for an answer, and how many of them should have
 * expired before `now`.
 */
export async function countWaiting(db: Db, now: Date): Promise<WaitingDeployments> {
  const [[waiting], [late]] = await Promise.all([
    db<[Pick<WaitingDeployments, 'waiting' | 'oldest_at'>]>`
      select count(*)::int as waiting, min(created_at) as oldest_at
      from deployments
      where status = 'pending_approval'
        and custom_rule_state = 'pending'`,
    db<[Pick<WaitingDeployments, 'overdue'>]>`
      select count(*)::int as overdue
      from deployments
      where answer_until <= ${now}
        and custom_rule_state = 'pending'`,
  ])
  return { ...waiting, ...late }
}
