import type { StoredRun } from '../../ci/runs/run.store.ts'
import type { TrustClass } from '../../ci/runs/trust.ts'
import type { SubjectRow } from '../../ci/subjects/subject.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { publishUpdates, update } from '../../platform/queue/update.ts'
import { parseBranchName, splitAddress } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import type { GateToRequire } from '../asked-gate.ts'
import { auditOutcome, observeDecision, settleWaiting } from '../decisions/decide-deployment.ts'
import {
  insertDeployment,
  type NearestAttempts,
  type NewDeployment,
  type NewStanding,
  updateNearestAttempts,
} from '../deployment-state.store.ts'
import { type DeploymentKey, type GateState, getAnswerWithinMs, SUPERSEDED } from '../deployment-state.ts'
import { insertDeploymentSubjects } from '../deployment-subject.store.ts'
import { createPolicyApproval, toStoredEvaluation } from '../policy-evaluation.ts'
import type { EarlyApproval } from './approve-ahead.ts'
import {
  findGateById,
  insertOpenedGate,
  type OpenedGateIds,
  type OpenedGateKey,
  type StoredGate,
  updateSuperseded,
} from './opened-gate.store.ts'
import { computePollToken, hashPollToken } from './opened-gate.ts'
import { insertRequiredGates } from './required-gate.store.ts'

/** A gate to open, and the deployment that it is opened for. */
type GateRequest = {
  key: OpenedGateKey
  deployment_id: string
  /** The API key or the trust that opens the gate, and its lane. */
  credential_id: string
  opener_lane: TrustClass
  timeout_minutes: number | null
  run: StoredRun
  attempts: NearestAttempts
  required: GateToRequire[]
  subjects: readonly SubjectRow[]
  approval: EarlyApproval | null
  /** The gate whose place it takes. */
  superseded: OpenedGateIds | null
}

/**
 * Stores a deployment with its opened gate and the gates that it requires; the run is locked.
 * Without an early approval it waits, and its policies are to be evaluated.
 */
export async function createOpenedGate(
  services: Services,
  tx: Tx,
  request: GateRequest,
  now: Date,
): Promise<StoredGate> {
  const { key, deployment_id, credential_id, opener_lane, timeout_minutes, run, required, approval, superseded } =
    request
  const attempts = superseded ? { ...request.attempts, previous: superseded.deployment_id } : request.attempts
  const id = createUuid(now)
  const deployment = { org_id: key.org_id, id: deployment_id }
  const { environment, job } = key
  const standing = approval ? createApprovedStanding(now, approval) : createWaitingStanding(now, timeout_minutes)
  const poll_token_sha256 = hashPollToken(computePollToken(services.pollTokenKey, id, now))
  const gate = {
    ...key,
    id,
    deployment_id,
    lane: run.trust,
    credential_id,
    opener_lane,
    timeout_minutes,
    poll_token_sha256,
    supersedes: superseded?.id ?? null,
    created_at: now,
    state: standing.gate,
  }
  const created = { ...deployment, environment, job: job || null, run, attempts, standing: standing.deployment }
  // Sent together, and run in this order: the gates refer to the deployment.
  const writes = [
    createDeployment(services, tx, created, now),
    superseded && updateSuperseded(tx, key.org_id, superseded.id, id),
    insertOpenedGate(tx, gate),
    insertRequiredGates(tx, deployment, required, approval && now),
    insertDeploymentSubjects(tx, deployment, request.subjects, { trust: opener_lane, stated_by: null }),
    approval && announceApproval(services, tx, deployment, { approval, created_at: now }),
  ]
  const [stored] = await Promise.all([findGateById(tx, id), ...writes])
  if (attempts.next !== null) await settleWaiting(services, tx, deployment, SUPERSEDED)
  return stored as StoredGate
}

async function announceApproval(
  services: Services,
  tx: Tx,
  deployment: DeploymentKey,
  { approval, created_at }: { approval: EarlyApproval; created_at: Date },
): Promise<void> {
  const now = services.clock.now()
  observeDecision({ created_at }, 'approved', now)
  await Promise.all([
    auditOutcome(tx, deployment, createPolicyApproval(approval.evaluation, approval.required).audited, now),
    publishUpdates(tx, deployment.org_id, [update('deployment', deployment.id)]),
  ])
}

type DeploymentRequest = DeploymentKey & {
  environment: string
  job: string | null
  run: StoredRun
  attempts: NearestAttempts
  standing: NewStanding
}

/**
 * Creates the deployment that a gate is opened for, and links it to the deployments of the run's
 * other attempts. The deployment of the previous attempt is cancelled if it still waits.
 */
export async function createDeployment(
  services: Services,
  tx: Tx,
  request: DeploymentRequest,
  now: Date,
): Promise<void> {
  const { org_id, attempts } = request
  await insertDeployment(tx, toDeployment(request, now))
  if (attempts.previous ?? attempts.next) await updateNearestAttempts(tx, request, attempts, now)
  if (attempts.previous) await settleWaiting(services, tx, { org_id, id: attempts.previous }, SUPERSEDED)
}

function toDeployment(request: DeploymentRequest, now: Date): NewDeployment {
  const { org_id, id, environment, job, run, attempts, standing } = request
  const { name: fullName } = splitAddress(run.own_repository)
  return {
    repository: fullName.slice(fullName.lastIndexOf('/') + 1),
    repository_full_name: fullName,
    org_id,
    id,
    environment,
    workflow_name: run.pipeline_name,
    pipeline_run_id: run.id,
    job_id: job,
    attempt: run.attempt,
    previous_attempt_id: attempts.previous,
    superseded_by_id: attempts.next,
    branch: parseBranchName(run.ref),
    commit_sha: run.own_commit_sha,
    author: run.actor,
    html_url: run.url,
    standing,
    created_at: now,
  }
}

/** How a new deployment and its opened gate are stored. */
type Standing = { deployment: NewStanding; gate: GateState }

/** Of a deployment that waits for policies, people or API keys. */
function createWaitingStanding(now: Date, timeout_minutes: number | null): Standing {
  return {
    deployment: {
      status: 'pending_approval',
      custom_rule_state: 'pending',
      custom_rule_awaiting: 'manual_decision_required',
      answer_until: new Date(now.getTime() + getAnswerWithinMs({ timeout_minutes })),
      policies_asked_at: null,
      evaluation: null,
    },
    gate: { status: 'waiting', decision: 'pending', decided_by: null, note: null },
  }
}

/** Of a deployment that policies have approved before it is stored. */
function createApprovedStanding(now: Date, { evaluation, required }: EarlyApproval): Standing {
  return {
    deployment: {
      status: 'approved',
      custom_rule_state: 'approved',
      custom_rule_awaiting: null,
      answer_until: null,
      policies_asked_at: now,
      evaluation: toStoredEvaluation(evaluation, 'approved'),
    },
    gate: createPolicyApproval(evaluation, required).outcome.gate,
  }
}
