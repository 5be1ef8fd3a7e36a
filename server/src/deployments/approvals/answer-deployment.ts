import type { Actor } from '../../access/actor.ts'
import { listCreators } from '../../access/credential.store.ts'
import { findPermissions, hasPermissions, requireCovers } from '../../access/members/author.ts'
import { findProviderAccounts } from '../../access/members/member.store.ts'
import { type HostLogin, listRunStarters } from '../../ci/provider-runs/provider-run.store.ts'
import { findIdentifiedRun, listRunCredentials } from '../../ci/runs/run.store.ts'
import { isLimitedKey, requireKeyRepository } from '../../ci/runs/token-repository.ts'
import type { PolicyEvaluation } from '../../compliance/policies/policy-verdict.ts'
import { runAlreadyFinished } from '../../errors/ci.ts'
import { insufficientScope } from '../../errors/deployments.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { createUuid } from '../../platform/ids.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { listStoredGates } from '../asked-gate.store.ts'
import { hasRunEndedBadly } from '../decisions/decide-deployment.ts'
import { evaluatePolicies, isStillEvaluated, mergeGates } from '../decisions/evaluate-policies.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { findDeploymentState, isRunTakenOver, lockDeployment, updateGatesOpen } from '../deployment-state.store.ts'
import { type DeploymentState, TAKEN_OVER } from '../deployment-state.ts'
import { selectLost } from '../policy-evaluation.ts'
import type { NewAnswer } from './answer.schema.ts'
import { type Answer, findOpening, listAnswers } from './answer.store.ts'
import {
  type AnswerContext,
  checkAnswerable,
  type GivenAnswering,
  type Openers,
  OVERRIDE_PERMISSIONS,
  requireReason,
} from './answerable.ts'
import { type Looseners, listLooseners } from './list-looseners.ts'
import { recordAnswer, type SignedAnswer } from './record-answer.ts'

const OVERRIDE_SCOPE = 'write:compliance-override'

type AnswerInput = NewAnswer & Pick<Answer, 'decision'>
/** How long a request waits for the turn of its policies. Clients give up after half a minute. */
const POLICIES_WAIT_MS = 20_000

type GivenAnswer = Omit<SignedAnswer, 'id' | 'answered_at' | 'permissions'> & GivenAnswering

/**
 * Approves or rejects the service's own protection rule as a person or an API key (specification,
 * "Approve and reject rules"). Policies are evaluated before the deployment is locked; concurrent
 * answers are handled one after the other. Returns the deployment's status. Throws 400
 * `reason_required`, 403 `forbidden`, `insufficient_scope` or `insufficient_permission`, 404, 409
 * `run_finished` and the errors of `checkAnswerable`.
 */
export async function answerDeployment(
  services: Services,
  actor: Actor,
  id: string,
  input: AnswerInput,
): Promise<DeploymentStatus> {
  const { sql, clock } = services
  const reason = readReason(actor, input)
  const state = await findDeploymentState(
    sql,
    { org_id: actor.org_id, id },
    computeRetentionStart(actor.plan, clock.now()),
  )
  if (!state) throw createNotFoundError('deployment')
  await requireRepositoryOfKey(sql, actor, state)
  const comment = input.comment?.trim() || null
  const given = { ...(await sign(sql, actor, state)), decision: input.decision, comment, reason }
  const context = await readContext(sql, state, given, clock.now())
  checkAnswerable(context, given, clock.now())
  const { required } = context
  const isApproved = given.decision === 'approved'
  const evaluation = isApproved ? await evaluatePolicies(services, { state, required, waitMs: POLICIES_WAIT_MS }) : null
  requireAuthority(actor, evaluation)
  if (evaluation?.decision === 'block') requireReason(reason)
  const status = await sql.begin((tx) => answerLocked(services, tx, context, { actor, given, evaluation }))
  return status ?? answerDeployment(services, actor, id, input)
}

/** Throws 403 `forbidden` for an API key that is limited to other repositories. */
async function requireRepositoryOfKey(db: Db, actor: Actor, state: DeploymentState): Promise<void> {
  if (!isLimitedKey(actor)) return
  const { org_id, host, pipeline_run_id, repository_full_name: name } = state
  // Only its run knows the host of an opened gate.
  const run = host === null && pipeline_run_id !== null ? await findIdentifiedRun(db, org_id, pipeline_run_id) : null
  requireKeyRepository(actor, run === null ? { host, name } : splitAddress(run.address))
}

/** An API key must send a reason. A person needs one only to override a policy. */
function readReason({ credential }: Actor, { reason }: AnswerInput): string | null {
  const isOmitted = credential.type === 'user' && !reason?.trim()
  return isOmitted ? null : requireReason(reason)
}

type Signature = Pick<
  GivenAnswer,
  'principal_type' | 'principal_id' | 'principal_name' | 'person_id' | 'email' | 'provider_account' | 'scopes'
>

/** Who answers, as it is recorded. */
export async function sign(db: Db, { org_id, credential }: Actor, state: DeploymentState): Promise<Signature> {
  if (credential.type === 'oidc_trust') throw new Error('A CI job cannot have the scope write:deployments.')
  const { type: principal_type, id: principal_id, name: principal_name } = credential
  const principal = { principal_type, principal_id, principal_name }
  if (credential.type === 'api_key') {
    const [person_id = null] = await listCreators(db, org_id, [credential.id])
    return { ...principal, person_id, email: null, provider_account: null, scopes: credential.scopes }
  }
  const accounts = await findProviderAccounts(db, org_id, credential.id)
  // The code host of an opened gate is not known.
  const isAtHost = ({ provider }: { provider: string }) => state.host === null || provider === state.provider
  const provider_account = accounts.find(isAtHost) ?? null
  return { ...principal, person_id: credential.id, email: credential.email, provider_account, scopes: [] }
}

export async function readContext(
  db: Db,
  state: DeploymentState,
  given: GivenAnswer,
  now: Date,
): Promise<AnswerContext> {
  const [stored, answers] = await Promise.all([listStoredGates(db, state), listAnswers(db, state)])
  const required = await mergeGates(db, state, stored, now)
  const people = [given, ...answers].map(({ person_id }) => person_id).filter((id) => id !== null)
  const [openers, looseners] = await Promise.all([
    findOpeners(db, state, [...new Set(people)]),
    listLooseners(db, state, required, now),
  ])
  return { state, required, answers, openers: { ...openers, ...looseners } }
}

/**
 * Approving against a blocking policy requires another scope (specification, "Approve and reject
 * rules" 4), or of people both permissions, of which each gives one at least. Returns those that
 * the answer is given with. Throws 403 `insufficient_scope` or `insufficient_permission`.
 */
function requireAuthority({ credential }: Actor, evaluation: PolicyEvaluation | null): string[] {
  const overrides = evaluation?.decision === 'block'
  if (credential.type === 'user') {
    const held = OVERRIDE_PERMISSIONS.filter((permission) => hasPermissions(credential.permissions, [permission]))
    if (!overrides) requireCovers(credential.permissions, [OVERRIDE_PERMISSIONS[0]])
    else if (held.length === 0) requireCovers(credential.permissions, [OVERRIDE_PERMISSIONS[1]])
    // Who approves what nothing blocks has not looked at what may block it later.
    return overrides ? held : [OVERRIDE_PERMISSIONS[0]]
  }
  if (!overrides) return [OVERRIDE_PERMISSIONS[0]]
  if (credential.scopes.includes(OVERRIDE_SCOPE)) return [...OVERRIDE_PERMISSIONS]
  throw insufficientScope(
    OVERRIDE_SCOPE,
    `A policy blocks this deployment. Approving it requires the scope ${OVERRIDE_SCOPE}.`,
  )
}

/** A person with the permissions of now: their role may have changed since the request arrived. */
async function readAgain(db: Db, actor: Actor): Promise<Actor> {
  const { org_id, credential } = actor
  if (credential.type !== 'user') return actor
  return { ...actor, credential: { ...credential, permissions: await findPermissions(db, org_id, credential.id) } }
}

type Answering = { actor: Actor; given: GivenAnswer; evaluation: PolicyEvaluation | null }

/**
 * Everything is checked again under the lock. The answer gets the time at which it takes effect.
 * Returns null if the policies must be evaluated again, because the required gates have changed.
 */
async function answerLocked(
  services: Services,
  tx: Tx,
  before: AnswerContext,
  { actor, given, evaluation }: Answering,
): Promise<DeploymentStatus | null> {
  const state = await lockDeployment(tx, before.state)
  if (!state) throw createNotFoundError('deployment')
  const now = services.clock.now()
  const context = await readContext(tx, state, given, now)
  checkAnswerable(context, given, now)
  const permissions = requireAuthority(await readAgain(tx, actor), evaluation)
  if (evaluation && !isStillEvaluated(before, context)) return null
  if (state.host === null && (await hasRunEndedBadly(tx, state, now))) throw createNotDeployableError()
  if (given.decision === 'approved' && (await isRunTakenOver(tx, state))) throw runAlreadyFinished(TAKEN_OVER.gate.note)
  const answer = { ...given, id: createUuid(now), answered_at: now, permissions }
  const required = evaluation === null ? context.required : await reopenLost(tx, context, evaluation)
  return recordAnswer(services, tx, { ...context, required }, { answer, evaluation })
}

/** Gates that policies had approved are open again where they do not approve them now. */
async function reopenLost(tx: Tx, { state, required }: AnswerContext, evaluation: PolicyEvaluation) {
  const lost = selectLost(required, evaluation)
  if (lost.length === 0) return required
  const ids = lost.map(({ id }) => id)
  await updateGatesOpen(tx, state, ids)
  return required.map((gate) => (ids.includes(gate.id) ? { ...gate, approved_at: null, approved_by: null } : gate))
}

export function createNotDeployableError(): ApiError {
  return runAlreadyFinished('The run has finished without success and cannot deploy.')
}

/**
 * Finds who opened a deployment: the credentials that wrote to its run or opened its gate, the
 * users who created them, and those of `people` whose account on the code host started the run or
 * created the deployment there. Of `people`, also those whose account there is not known.
 */
async function findOpeners(
  db: Db,
  state: DeploymentState,
  people: readonly string[],
): Promise<Omit<Openers, keyof Looseners>> {
  const { org_id, pipeline_run_id: runId, attempt } = state
  const [writers, opening, started] = await Promise.all([
    runId === null ? [] : listRunCredentials(db, org_id, runId),
    findOpening(db, state),
    runId === null ? [] : listRunStarters(db, org_id, runId, attempt),
  ])
  const { provider, credential_id, host_creator } = opening
  const credential_ids = credential_id === null ? writers : [...new Set([...writers, credential_id])]
  const accounts = [...started, ...(provider && host_creator ? [{ provider, login: host_creator }] : [])]
  const [creator_ids, owners] = await Promise.all([
    listCreators(db, org_id, credential_ids),
    accounts.length === 0 ? NO_OWNERS : findOwners(db, org_id, accounts, people),
  ])
  return { credential_ids, creator_ids, ...owners }
}

const NO_OWNERS: Pick<Openers, 'starter_ids' | 'unlinked_ids'> = { starter_ids: [], unlinked_ids: [] }

/**
 * Those of `people` who have linked one of the accounts, and those who have no account at one of
 * their hosts. Logins ignore case, as on code hosts.
 */
async function findOwners(
  db: Db,
  orgId: string,
  accounts: readonly HostLogin[],
  people: readonly string[],
): Promise<typeof NO_OWNERS> {
  const named = new Set(accounts.map(accountKey))
  const linked = await Promise.all(people.map((userId) => findProviderAccounts(db, orgId, userId)))
  const isLinkedAt = (at: number, provider: string) => linked[at]?.some((account) => account.provider === provider)
  return {
    starter_ids: people.filter((_, at) => linked[at]?.some((account) => named.has(accountKey(account)))),
    unlinked_ids: people.filter((_, at) => accounts.some(({ provider }) => !isLinkedAt(at, provider))),
  }
}

function accountKey({ provider, login }: HostLogin): string {
  return `${provider} ${login.toLowerCase()}`
}
