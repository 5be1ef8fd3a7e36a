import type { Actor } from '../../access/actor.ts'
import { findCredentialName } from '../../access/credential.store.ts'
import { listHistory } from '../../audit/audit.store.ts'
import { findVersion } from '../../compliance/policies/policy-version.store.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import type { Db } from '../../platform/db/sql.ts'
import { ApiError } from '../../platform/http/api-error.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { hasRunEndedBadly } from '../decisions/decide-deployment.ts'
import { findDeploymentState } from '../deployment-state.store.ts'
import type { DeploymentKey } from '../deployment-state.ts'
import type { DecisionGate, DecisionPolicy, DeploymentDecision, Opener, Refusal } from './answer.schema.ts'
import { type EvaluatedPolicies, findEvaluatedPolicies, findOpening } from './answer.store.ts'
import { createNotDeployableError, readContext, sign } from './answer-deployment.ts'
import { type AnswerContext, checkAnswerable, getApprovers } from './answerable.ts'

/**
 * What decides a deployment: its gates, the rules of its policies, and why the person could not
 * answer it now. Throws 404.
 */
export function describeDecision({ sql, clock }: Services, actor: Actor, id: string): Promise<DeploymentDecision> {
  const now = clock.now()
  return sql.begin('read only', async (tx) => {
    const key = { org_id: actor.org_id, id }
    const state = await findDeploymentState(tx, key, computeRetentionStart(actor.plan, now))
    if (state === null) throw createNotFoundError('deployment')
    const signed = await sign(tx, actor, state)
    const given = { ...signed, reason: null, comment: null }
    const [context, evaluated, history, opened_by, endedBadly] = await Promise.all([
      readContext(tx, state, { ...given, decision: 'approved' }, now),
      findEvaluatedPolicies(tx, key),
      listHistory(tx, actor.org_id, { type: 'deployment', id }),
      findOpener(tx, key),
      state.host === null && hasRunEndedBadly(tx, state, now),
    ])
    const getRefusal = (decision: 'approved' | 'rejected') => {
      const refusal = findRefusal(() => checkAnswerable(context, { ...given, decision }, now))
      return refusal ?? (endedBadly ? toRefusal(createNotDeployableError()) : null)
    }
    return {
      answer_until: state.answer_until,
      opened_by,
      gates: describeGates(context),
      policies: await describePolicies(tx, actor.org_id, evaluated),
      evidence: evaluated.asked_evidence,
      history: history.flatMap(({ principal: { type, name }, ...entry }) =>
        type === 'policy' || type === 'system' ? { ...entry, by: name, principal: type } : [],
      ),
      refused: { approve: getRefusal('approved'), reject: getRefusal('rejected') },
      unlinked_account: context.openers.unlinked_ids.includes(actor.credential.id),
    }
  })
}

function findRefusal(check: () => void): Refusal | null {
  try {
    check()
    return null
  } catch (error) {
    if (error instanceof ApiError) return toRefusal(error)
    throw error
  }
}

function toRefusal({ code, message }: ApiError): Refusal {
  return { code, message }
}

async function findOpener(db: Db, key: DeploymentKey): Promise<Opener | null> {
  const { credential_id, host_creator } = await findOpening(db, key)
  if (credential_id !== null) return findCredentialName(db, key.org_id, credential_id)
  return host_creator === null ? null : { type: 'account', name: host_creator }
}

function describeGates({ required, answers, openers }: AnswerContext): DecisionGate[] {
  return required.map((gate) => {
    const { asks_earlier: _, ...shown } = gate
    const approvals = getApprovers(gate, answers, openers).size
    return { ...shown, approvals }
  })
}

function describePolicies(
  db: Db,
  orgId: string,
  { policies, rules, evidence }: EvaluatedPolicies,
): Promise<DecisionPolicy[]> {
  return Promise.all(
    (policies ?? []).map(async (policy, at) => {
      const expressions = rules === null ? new Map() : await readExpressions(db, orgId, policy)
      const described = rules?.[at]?.map((rule, position) => ({
        ...rule,
        evidence: evidence?.[at]?.[position] ?? null,
        expression: expressions.get(rule.rule) ?? null,
      }))
      return { ...policy, path: policy.path ?? null, rules: described ?? null }
    }),
  )
}

/** The CEL expressions of a version, by their rule. A policy that does not exist has none. */
async function readExpressions(
  db: Db,
  orgId: string,
  { id, version }: Pick<DecisionPolicy, 'id' | 'version'>,
): Promise<Map<string, string>> {
  const stored = isUuid(id) ? await findVersion(db, orgId, id, version) : null
  const engine = stored?.definition?.engine
  return new Map(engine?.type === 'cel' ? engine.rules.map(({ rule, expression }) => [rule, expression]) : [])
}
