import type { Actor } from '../../access/actor.ts'
import { findRunCredential } from '../../ci/runs/run.store.ts'
import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import { retainedSince } from '../../organizations/plan.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { hasRunEndedBadly } from '../decisions/follow-run.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { findDeploymentState, listRequiredGates, lockDeployment } from '../deployment-state.store.ts'
import type { DeploymentState } from '../deployment-state.ts'
import { evaluatePolicies, isStillEvaluated } from '../policy/evaluate-policies.ts'
import type { NewAnswer } from './answer.schema.ts'
import { type Answer, listAnswers } from './answer.store.ts'
import { type AnswerContext, refuseUnanswerable, requireReason } from './answerable.ts'
import { recordAnswer } from './record-answer.ts'

const OVERRIDE_SCOPE = 'write:compliance-override'

type AnswerInput = NewAnswer & Pick<Answer, 'decision'>
type GivenAnswer = Omit<Answer, 'id' | 'answered_at'>

/**
 * Approves or rejects the service's own protection rule as an API key (specification, "Approve and
 * reject rules"). Policies are evaluated before the deployment is locked; concurrent answers are
 * handled one after the other. Returns the deployment's status. Throws 400 `reason_required`, 403
 * `insufficient_scope`, 404, 409 `run_finished` and the errors of `refuseUnanswerable`.
 */
export async function answerDeployment(
  services: Services,
  actor: Actor,
  id: string,
  input: AnswerInput,
): Promise<DeploymentStatus> {
  const { sql, clock } = services
  const given = toGiven(actor, input)
  const state = await findDeploymentState(sql, { org_id: actor.org_id, id }, retainedSince(actor.plan, clock.now()))
  if (!state) throw notFound('deployment')
  const context = await readContext(sql, state)
  refuseUnanswerable(context, given, clock.now())
  const evaluation = given.decision === 'approved' ? await evaluatePolicies(services, state, context.required) : null
  requireOverrideScope(actor, evaluation)
  const status = await sql.begin((tx) => answerLocked(services, tx, context, { given, evaluation }))
  return status ?? answerDeployment(services, actor, id, input)
}

function toGiven({ credential }: Actor, { decision, reason, comment }: AnswerInput): GivenAnswer {
  if (credential.type === 'oidc_trust') throw new Error('A CI job cannot have the scope write:deployments.')
  return {
    principal_type: credential.type,
    principal_id: credential.id,
    principal_name: credential.name,
    decision,
    reason: requireReason(reason),
    comment: comment?.trim() || null,
  }
}

async function readContext(db: Db, state: DeploymentState): Promise<AnswerContext> {
  const { org_id, pipeline_run_id } = state
  const [required, answers, runCredentialId] = await Promise.all([
    listRequiredGates(db, state),
    listAnswers(db, state),
    pipeline_run_id === null ? null : findRunCredential(db, org_id, pipeline_run_id),
  ])
  return { state, required, answers, runCredentialId }
}

/**
 * Approving against a blocking policy requires another scope (specification, "Approve and reject
 * rules" 4).
 */
function requireOverrideScope({ credential }: Actor, evaluation: PolicyEvaluation | null): void {
  if (evaluation?.decision !== 'block' || credential.scopes.includes(OVERRIDE_SCOPE)) return
  const message = `A policy blocks this deployment. Approving it requires the scope ${OVERRIDE_SCOPE}.`
  throw new ApiError(403, 'insufficient_scope', message, { requiredScope: OVERRIDE_SCOPE })
}

/**
 * Everything is checked again under the lock. The answer gets the time at which it takes effect.
 * Returns null if the policies must be evaluated again, because the required gates have changed.
 */
async function answerLocked(
  services: Services,
  tx: Tx,
  before: AnswerContext,
  { given, evaluation }: { given: GivenAnswer; evaluation: PolicyEvaluation | null },
): Promise<DeploymentStatus | null> {
  const state = await lockDeployment(tx, before.state)
  if (!state) throw notFound('deployment')
  const context = await readContext(tx, state)
  const now = services.clock.now()
  refuseUnanswerable(context, given, now)
  if (evaluation && !isStillEvaluated(before, context)) return null
  if (state.host === null && (await hasRunEndedBadly(tx, state, now)))
    throw new ApiError(409, 'run_finished', 'The run has finished without success and cannot deploy.')
  const answer = { ...given, id: newUuid(now), answered_at: now }
  return recordAnswer(services, tx, context, { answer, evaluation })
}
