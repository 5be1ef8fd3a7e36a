import type { Actor } from '../../access/actor.ts'
import { retainedSince } from '../../access/retention.ts'
import { findRunCredential } from '../../ci/runs/run.store.ts'
import type { PolicyEvaluation } from '../../compliance/policy-evaluation.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { findDeploymentState, lockDeployment } from '../deployment-state.store.ts'
import type { DeploymentState } from '../deployment-state.ts'
import { hasRunEndedBadly } from '../has-run-ended.ts'
import { evaluatePolicies } from '../policy/evaluate-policies.ts'
import { listRequiredGates, type RequiredGate } from '../required-gate.store.ts'
import type { NewAnswer } from './answer.schema.ts'
import { type Answer, listAnswers } from './answer.store.ts'
import { requireReason } from './answer-reason.ts'
import { refuseUnanswerable } from './answerable.ts'
import { requireOverrideScope } from './override.ts'
import { storeAnswer } from './store-answer.ts'

/** A deployment with all that an answer to it depends on. */
export type Asked = {
  state: DeploymentState
  required: RequiredGate[]
  answers: Answer[]
  runCredentialId: string | null
}

/**
 * An API key answers the service's own rule (specification, "Approve and reject rules"). The policies are asked before
 * anything is locked; of several answers at once, one after the other counts. Returns the deployment's status. Errors:
 * 400 `reason_required`; 403 `insufficient_scope`; 404; 409 as `refuseUnanswerable`, and `run_finished`.
 */
export async function answerDeployment(
  services: Services,
  actor: Actor,
  id: string,
  decision: Answer['decision'],
  input: NewAnswer,
): Promise<DeploymentStatus> {
  const { sql, clock } = services
  const given = { decision, reason: requireReason(input.reason), comment: input.comment?.trim() || null }
  const state = await findDeploymentState(sql, actor.org_id, id, retainedSince(actor.plan, clock.now()))
  if (!state) throw notFound('deployment')
  const asked = await readAsked(sql, actor.org_id, state)
  refuse(asked, actor, clock.now())
  const evaluation =
    decision === 'approved' ? await evaluatePolicies(services, actor.org_id, state, asked.required) : null
  requireOverrideScope(actor, evaluation)
  return sql.begin((tx) => answerLocked(services, tx, actor, { id, given, evaluation }))
}

type Given = Pick<Answer, 'decision' | 'reason' | 'comment'>
type Answering = { id: string; given: Given; evaluation: PolicyEvaluation | null }

async function answerLocked(services: Services, tx: Tx, actor: Actor, { id, given, evaluation }: Answering) {
  const state = await lockDeployment(tx, actor.org_id, id)
  if (!state) throw notFound('deployment')
  const asked = await readAsked(tx, actor.org_id, state)
  const now = services.clock.now()
  refuse(asked, actor, now)
  if (await hasRunEndedBadly(tx, actor.org_id, state, now))
    throw new ApiError(409, 'run_finished', 'The run has ended without success: there is nothing to let out.')
  return storeAnswer(services, tx, actor, asked, toAnswer(actor, given, now), evaluation)
}

async function readAsked(db: Db, orgId: string, state: DeploymentState): Promise<Asked> {
  const [required, answers, runCredentialId] = await Promise.all([
    listRequiredGates(db, orgId, state.id),
    listAnswers(db, orgId, state.id),
    state.pipeline_run_id === null ? null : findRunCredential(db, orgId, state.pipeline_run_id),
  ])
  return { state, required, answers, runCredentialId }
}

function refuse({ answers, runCredentialId, ...asked }: Asked, { credential }: Actor, now: Date): void {
  const hasAnswered = answers.some(({ principal_id }) => principal_id === credential.id)
  const answerer = { type: credential.type, isRunCreator: credential.id === runCredentialId }
  refuseUnanswerable({ ...asked, hasAnswered }, answerer, now)
}

/** Answered is when it counts, which is after whatever was asked for it. */
function toAnswer({ credential: { type, id, name } }: Actor, given: Given, now: Date): Answer {
  return {
    ...given,
    id: newUuid(now),
    principal_type: type,
    principal_id: id,
    principal_name: name,
    answered_at: now,
  }
}
