import {
  buildCommitRunsJson,
  buildDeploymentRun,
  buildDigestTrust,
  buildRunArtifacts,
  buildRunSubjects,
} from '../ci/evidence/commit-evidence.store.ts'
import { buildAcceptsAnyTrust, buildPolicyHash } from '../compliance/policies/policy-version.store.ts'
import { buildSpreadCondition } from '../platform/db/spread.ts'
import type { Db } from '../platform/db/sql.ts'
import type { DeploymentKey } from './deployment-state.ts'
import type { PathLanes, PromotedDeployment, PromotionPath } from './promotion.ts'

/**
 * Earlier deployments of one commit that are listed, oldest first. Beyond it, self-reported ones
 * are left out first: whoever has a key can report any number of them.
 */
const EARLIER_MAX = 1000

/**
 * The digest of a promotion path changes with everything that the path states, and that of the
 * lanes with everything that decides what a statement is about.
 */
export type PromotedRow = PromotedDeployment & { path_sha256: string; lanes_sha256: string }

type ReadPath = PromotedRow & { path: PromotionPath; lanes: PathLanes }

/** A deployment of any age with its promotion path, at `now`; null if it does not exist. */
export async function findPromotionPath(db: Db, key: DeploymentKey, now: Date): Promise<ReadPath | null> {
  const [row] = await db<ReadPath[]>`
    select ${buildPromotedColumns(db)}, path.json as path, path.lanes
    from ${buildPromoted(db, key, now)}`
  return row ?? null
}

/** SQL: the columns of `PromotedRow`, from `buildPromoted`. */
export function buildPromotedColumns(db: Db) {
  return db`
    deployment.org_id, deployment.id, deployment.status, deployment.provider, deployment.repository_id,
    deployment.address, deployment.environment, deployment.branch, deployment.commit_sha, deployment.run_status,
    deployment.custom_rule_state, deployment.bypass, deployment.override, deployment.policy_evaluation,
    deployment.succeeded_at, deployment.created_at, deployment.accepts_any_trust,
    encode(sha256(convert_to(path.json::text, 'UTF8')), 'hex') as path_sha256,
    encode(sha256(convert_to(path.lanes::text, 'UTF8')), 'hex') as lanes_sha256`
}

/**
 * SQL: a deployment of any age at `now` as `deployment`, and its promotion path as `path (json,
 * lanes)`. Its `address` is `host/owner/name`; self-reported deployments take the host of their
 * run.
 * It was decided when its last gate was approved, or without gates when it was created.
 */
export function buildPromoted(db: Db, { org_id, id }: DeploymentKey, now: Date) {
  return db`(
      select deployment.org_id, deployment.id, ${statusAt(db, 'deployment', now)} as status, deployment.host_id,
        deployment.provider, deployment.repository_id,
        case when deployment.host is null then coalesce(run.repository, deployment.repository_full_name)
          else deployment.host || '/' || deployment.repository_full_name end as address,
        deployment.environment, deployment.branch, coalesce(deployment.commit_sha, '') as commit_sha,
        deployment.pipeline_run_id, deployment.attempt, run.status as run_status, deployment.custom_rule_state,
        deployment.bypass, deployment.override, deployment.policy_evaluation, deployment.succeeded_at,
        deployment.created_at,
        -- When the last gate was approved. Without gates, it was decided when it was created.
        greatest(deployment.created_at, (
          select max(gate.approved_at)
          from required_gates gate
          where gate.org_id = deployment.org_id ${buildSpreadCondition(db, 'gate', org_id)}
            and gate.deployment_id = deployment.id
        )) as decided_at,
        case
          when deployment.host_id is not null then 'verified'
          when run.commit_sha = deployment.commit_sha then run.trust
          else 'self_reported'
        end as commit_trust,
        exists (
          select
          from jsonb_array_elements(deployment.policy_evaluation -> 'policies') policy
          where policy ->> 'mode' = 'enforce'
            and ${buildAcceptsAnyTrust(db, org_id, 'policy')}
        ) as accepts_any_trust
      from deployments deployment
      left join lateral ${buildDeploymentRun(db, org_id, 'deployment', now)} run on true
      where deployment.org_id = ${org_id}
        and deployment.id = ${id}
    ) deployment
    cross join lateral (
      select json_build_object(
        'runs', ${buildCommitRunsJson(db, org_id, 'deployment', now)},
        'artifacts', artifacts.json,
        'earlier', json_build_object('items', steps.earlier, 'omitted', steps.omitted),
        'deployment', steps.own -> 0
      ) as json,
      -- Without subjects, the text of earlier versions, and with it the hash of issued statements.
      (left(json_build_object(
        'decided_at', rfc3339(deployment.decided_at), 'commit', deployment.commit_trust, 'artifacts', artifacts.lanes
      )::text, -1) || subjects.member || '}')::json as lanes
      from ${buildSteps(db, org_id, now)} steps
      cross join lateral ${buildRunArtifacts(db, org_id, 'deployment')} artifacts
      cross join lateral ${buildSubjects(db, org_id)} subjects
    ) path`
}

/**
 * The subjects of `deployment`: those of the reports of its run, and what its gate was opened with.
 * The text of a member of its lanes, or nothing if there are none.
 */
function buildSubjects(db: Db, orgId: string) {
  return db`(
    select coalesce(', "subjects" : ' || json_agg(
      json_build_object(
        'name', name, 'sha256', sha256, 'source', source, 'attempt', attempt, 'trust', trust,
        'stated_at', rfc3339(created_at)
      )
      order by source, name, attempt, created_at, sha256
    )::text, '') as member
    from (
      select 'report' as source, name, sha256, attempt, trust, created_at
      from ${buildRunSubjects(db, orgId, 'deployment')} reported
      union all
      select 'gate', named.name, named.sha256, null, ${buildDigestTrust(db, orgId, db`named.sha256`)},
        deployment.created_at
      from deployment_subjects named
      where named.org_id = deployment.org_id ${buildSpreadCondition(db, 'named', orgId)}
        and named.deployment_id = deployment.id
        and named.part = 0
        and named.stated_by is null
    ) subject
  )`
}

/** A deployment that was not answered in time has expired, settled or not. */
function statusAt(db: Db, alias: string, now: Date) {
  const of = db(alias)
  return db`case when ${of}.answer_until <= ${now} then 'expired' else ${of}.status end`
}

/**
 * The steps of `deployment`: at most `EARLIER_MAX` earlier deployments of the same commit of the
 * same repository, to any environment, and its own. One subquery reads both, because each part of a
 * step costs time in every query.
 */
function buildSteps(db: Db, orgId: string, now: Date) {
  return db`(
    select coalesce(json_agg(step.json order by listed.created_at, listed.id) filter (where not listed.own), '[]')
        as earlier,
      coalesce(max(listed.total), 0) - count(*) filter (where not listed.own) as omitted,
      json_agg(step.json) filter (where listed.own) as own
    from (
      (${earlierDeployments(db, orgId, now)})
      union all
      select deployment.org_id, deployment.id, deployment.created_at, null, true
    ) listed
    cross join lateral ${stepJson(db, orgId, now)} step
  )`
}

function earlierDeployments(db: Db, orgId: string, now: Date) {
  return db`
    select earlier.org_id, earlier.id, earlier.created_at, count(*) over () as total, false as own
    from deployments earlier
    left join lateral ${buildDeploymentRun(db, orgId, 'earlier', now)} run on earlier.host_id is null
    where earlier.org_id = deployment.org_id ${buildSpreadCondition(db, 'earlier', orgId)}
      and earlier.commit_sha = deployment.commit_sha
      and (earlier.created_at, earlier.id) < (deployment.created_at, deployment.id)
      and (
        (earlier.provider = deployment.provider and earlier.repository_id = deployment.repository_id)
        or coalesce(run.repository, earlier.host || '/' || earlier.repository_full_name) = deployment.address
      )
    order by earlier.host_id is null, earlier.created_at, earlier.id
    limit ${EARLIER_MAX}`
}

/**
 * The deployment `listed` as a `PromotionStep`. `self_approved` is only there if it is true: the
 * text of other steps stays, and with it the hash of issued statements.
 */
function stepJson(db: Db, orgId: string, now: Date) {
  return db`(
    select (case when self_approved then left(built::text, -1) || ', "self_approved" : true}' else built::text end)::json
      as json
    from (${builtStep(db, orgId, now)}) step
  )`
}

function builtStep(db: Db, orgId: string, now: Date) {
  return db`
    select step.self_approved, json_build_object(
      'id', step.id, 'trust', case when step.host_id is null then 'self_reported' else 'verified' end,
      'environment', step.environment, 'status', ${statusAt(db, 'step', now)},
      'run', case when step.pipeline_run_id is not null then
        json_build_object('id', step.pipeline_run_id, 'attempt', step.attempt)
      end,
      'workflow', step.workflow_name, 'branch', step.branch, 'author', step.author,
      'protection_rules', step.protection_rule_types, 'required_reviewers', step.required_reviewers,
      'required_reviewer_teams', step.required_reviewer_teams,
      'gates', ${gatesJson(db, orgId)}, 'approvals', ${approvalsJson(db, orgId)}, 'reviews', ${reviewsJson(db)},
      'policies', ${policiesJson(db, orgId)}, 'override', ${overrideJson(db)}, 'bypass', step.bypass,
      'created_at', rfc3339(step.created_at),
      'deployed_at', rfc3339(coalesce(step.succeeded_at, step.deployed_at)),
      'rolled_back_at', rfc3339(step.rollback_at)
    ) as built
    from deployments step
    where step.org_id = listed.org_id ${buildSpreadCondition(db, 'step', orgId)}
      and step.id = listed.id`
}

function gatesJson(db: Db, orgId: string) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'id', gate.id, 'name', gate.name, 'required_approvals', gate.required_approvals, 'policies', gate.policies,
        'approved_at', rfc3339(gate.approved_at), 'approved_by', gate.approved_by
      )
      order by gate.position
    ), '[]')
    from required_gates gate
    where gate.org_id = step.org_id ${buildSpreadCondition(db, 'gate', orgId)}
      and gate.deployment_id = step.id
  )`
}

/** The answers of users and API keys to the service's own rule, oldest first. */
function approvalsJson(db: Db, orgId: string) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'decision', answer.decision,
        'principal', json_build_object(
          'type', answer.principal_type, 'id', answer.principal_id, 'name', answer.principal_name
        ),
        'reason', answer.reason, 'comment', answer.comment, 'at', rfc3339(answer.answered_at)
      )
      order by answer.answered_at, answer.id
    ), '[]')
    from deployment_answers answer
    where answer.org_id = step.org_id ${buildSpreadCondition(db, 'answer', orgId)}
      and answer.deployment_id = step.id
  )`
}

/** The reviews on the code host, oldest first. */
function reviewsJson(db: Db) {
  return db`(
    select coalesce(json_agg(
      json_build_object(
        'reviewer', review ->> 'reviewer', 'state', review ->> 'state', 'comment', review ->> 'comment',
        'at', review ->> 'reviewed_at'
      )
      order by position
    ), '[]')
    from jsonb_array_elements(step.reviews) with ordinality as listed (review, position)
  )`
}

/** The latest evaluation of the policies. Rules are null if their results were not kept. */
function policiesJson(db: Db, orgId: string) {
  return db`(
    select json_build_object(
      'evaluation_id', evaluation ->> 'evaluation_id', 'at', evaluation ->> 'at', 'decision', evaluation ->> 'decision',
      'answered', evaluation ->> 'answered',
      'policies', (
        select coalesce(json_agg(
          json_build_object(
            'id', policy ->> 'id', 'name', policy ->> 'name', 'version', policy -> 'version',
            'sha256', ${buildPolicyHash(db, orgId, 'policy')}, 'mode', policy ->> 'mode',
            'decision', policy ->> 'decision', 'rules', step.policy_rules -> (position::int - 1)
          )
          order by position
        ), '[]')
        from jsonb_array_elements(evaluation -> 'policies') with ordinality as listed (policy, position)
      )
    )
    from (select step.policy_evaluation) evaluated (evaluation)
    where evaluation is not null
  )`
}

function overrideJson(db: Db) {
  return db`(
    select json_build_object(
      'by', given ->> 'display_name', 'reason', given ->> 'reason', 'self_override', given -> 'self_override',
      'evaluation_id', given ->> 'evaluation_id', 'at', given ->> 'at',
      'policies', given -> 'policies'
    )
    from (select step.override) overridden (given)
    where given is not null
  )`
}
