import { type Actor, formatCredential, toAuthor } from '../../access/actor.ts'
import { type Author, insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import { reportChanged } from '../../ci/runs/run.events.ts'
import { findIdentifiedRun } from '../../ci/runs/run.store.ts'
import { findAttempt } from '../../ci/runs/run-attempt.store.ts'
import { requireKeyRepository, requireOwnAttempt, requireOwnRepository } from '../../ci/runs/token-repository.ts'
import { decideTrust, isWeaker } from '../../ci/runs/trust.ts'
import { SUBJECTS_MAX, type SubjectItem } from '../../ci/subjects/subject.schema.ts'
import { toSubjectRows } from '../../ci/subjects/subject.ts'
import { otherLane } from '../../errors/ci.ts'
import {
  deploymentFinished,
  gateSubjectsDiffer,
  hostReportsStatus,
  insufficientScope,
  notApproved,
  notLive,
} from '../../errors/deployments.ts'
import { computeRetentionStart } from '../../organizations/plan.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import type { DeploymentStatus } from '../deployment.schema.ts'
import { getMarkedStatus, type Mark, type MarkedChange, type MarkLane, mergeMark } from '../deployment-mark.ts'
import {
  findDeploymentState,
  findOpener,
  listMarks,
  lockDeployment,
  updateDeploymentStatus,
  updateLiveEnded,
  updateMarks,
  updateStated,
} from '../deployment-state.store.ts'
import { createWithdrawnOutcome, type DeploymentState, isWaiting } from '../deployment-state.ts'
import { insertDeploymentSubjects, listDeploymentSubjects } from '../deployment-subject.store.ts'
import { settleHostDeployment } from '../host/settle-host-deployment.ts'
import { findLiveLane } from '../live-deployment.store.ts'
import { refreshLive } from '../refresh-live.ts'
import { settleWaiting } from './decide-deployment.ts'

const SCOPE = 'write:deployments'

/**
 * Stores what somebody says of a deployment (ci-evidence §4). What the lane of its opener says
 * changes the deployment; what others say is shown beside it. Calls at one time wait for each
 * other's lock. Throws 403 `insufficient_scope`, `forbidden` and `other_lane`, 404, 409
 * `deployment_finished`, `not_approved`, `gate_subjects_differ` and `host_reports_status`.
 */
export async function updateDeployment(
  services: Services,
  actor: Actor,
  id: string,
  change: MarkedChange & { subjects?: SubjectItem[] },
): Promise<void> {
  const now = services.clock.now()
  const key = { org_id: actor.org_id, id }
  if (!(await findDeploymentState(services.sql, key, computeRetentionStart(actor.plan, now))))
    throw createNotFoundError('deployment')
  await services.sql.begin(async (tx) => {
    const state = await lockDeployment(tx, key)
    if (state === null) throw createNotFoundError('deployment')
    const opener = await findOpener(tx, state)
    const { credential } = actor
    const isAllowed = credential.type === 'user' || credential.scopes.includes(SCOPE)
    if (!isAllowed && opener?.credential_id !== credential.id)
      throw insufficientScope(
        SCOPE,
        `Another credential has opened the deployment. Changing it requires the scope ${SCOPE}.`,
      )
    const trust = await readLane(tx, actor, state)
    const marks = await listMarks(tx, key)
    const isOpeners = opener?.lane === trust
    const { status, subjects = [], ...stated } = change
    const isNew = checkStatus({ state, marks, trust, isOpeners }, status, now)
    const { type, name } = credential
    const by = { type, name: type === 'user' ? formatCredential(actor) : name }
    const marked = mergeMark(marks, change, { trust, by, at: now.toISOString() })
    const isAdded = await addSubjects(tx, state, subjects, { trust, stated_by: by.name })
    if (marked === marks && !isAdded) return
    await updateMarks(tx, key, marked, now)
    await insertAuditEntry(
      tx,
      actor.org_id,
      {
        ...toRecorded(actor),
        action: 'deployment.mark',
        object: { type: 'deployment', id },
        details: { ...change, trust },
      },
      now,
    )
    if (state.host !== null) await settleHostDeployment(tx, key, now)
    if (!isOpeners) return
    await updateStated(tx, key, stated)
    if (status !== undefined && isNew) await changeStatus(services, tx, actor, { state, status, now })
  })
}

/**
 * Adds what is deployed where neither the gate nor the run says it (inventory §8.22). Returns
 * whether any of it is new. Policies that wait are evaluated again.
 */
async function addSubjects(
  tx: Tx,
  state: DeploymentState,
  subjects: readonly SubjectItem[],
  stated: { trust: MarkLane; stated_by: string },
): Promise<boolean> {
  if (subjects.length === 0) return false
  const { org_id, id, pipeline_run_id: run_id } = state
  const shown = (await listDeploymentSubjects(tx, org_id, [id])).get(id) ?? []
  const formatKey = ({ sha256, name }: { sha256: string; name: string }) => `${sha256} ${name}`
  const own = shown.filter(({ trust, stated_after_decision }) => !stated_after_decision || trust === stated.trust)
  const known = new Set(own.map(formatKey))
  const rows = toSubjectRows(subjects)
  const added = new Set(
    rows.filter((row) => row.part === 0 && !known.has(formatKey(row))).map(({ position }) => position),
  )
  if (added.size === 0) return false
  if (shown.some(({ stated_after_decision }) => !stated_after_decision)) throw gateSubjectsDiffer()
  if (own.length + added.size > SUBJECTS_MAX)
    throw createInvalidFieldError('/body/subjects', `must leave the deployment with at most ${SUBJECTS_MAX} subjects`)
  await insertDeploymentSubjects(
    tx,
    { org_id, id },
    rows.filter(({ position }) => added.has(position)),
    stated,
  )
  if (run_id !== null) await publish(tx, reportChanged, { org_id, run_id })
  return true
}

/** The lane of what somebody says of a deployment. Throws 403 `forbidden` if they may not. */
export async function readLane(db: Db, actor: Actor, state: DeploymentState): Promise<MarkLane> {
  const { org_id, pipeline_run_id: run_id, attempt, host, repository_full_name: name } = state
  if (actor.credential.type === 'user') return 'ui'
  const run = run_id === null ? null : await findIdentifiedRun(db, org_id, run_id)
  if (run === null || run_id === null) {
    if (actor.credential.type === 'oidc_trust') throw createNotFoundError('deployment')
    requireKeyRepository(actor, { host, name })
    return 'self_reported'
  }
  await requireOwnRepository(db, actor, run)
  const found = await findAttempt(db, { org_id, run_id, attempt }, state.created_at)
  await requireOwnAttempt(db, actor, run, found?.repository ?? null)
  return decideTrust(actor.credential, run)
}

type Marking = { state: DeploymentState; marks: readonly Mark[]; trust: MarkLane; isOpeners: boolean }

/** Whether the status changes what the lane has said. Throws 403 and 409. */
function checkStatus(marking: Marking, status: MarkedChange['status'], now: Date): boolean {
  if (status === undefined) return false
  if (marking.state.host !== null) throw hostReportsStatus()
  const current = getStatus(marking, now)
  if (current === status) return false
  if (current === 'approved' || current === 'in_progress') return true
  if (current !== 'pending_approval') throw deploymentFinished(current)
  if (status !== 'cancelled') throw notApproved()
  if (!marking.isOpeners) throw otherLane('A credential of another kind has opened the gate')
  return true
}

/** The status of a deployment as a lane sees it: each but the opener's has only its own word. */
function getStatus({ state, marks, trust, isOpeners }: Marking, now: Date): DeploymentStatus {
  const isOverdue = state.status === 'pending_approval' && !isWaiting(state, now)
  if (isOverdue) return 'expired'
  if (isOpeners || state.custom_rule_state !== 'approved') return state.status
  return getMarkedStatus(marks, trust) ?? 'approved'
}

/** `now` is also the time of the statement. */
type StatusChange = { state: DeploymentState; status: NonNullable<MarkedChange['status']>; now: Date }

async function changeStatus(
  services: Services,
  tx: Tx,
  actor: Actor,
  { state, status, now }: StatusChange,
): Promise<void> {
  const { type, name } = actor.credential
  if (state.status === 'pending_approval') {
    const { principal } = toRecorded(actor)
    return settleWaiting(services, tx, state, { ...createWithdrawnOutcome(`${type}:${name}`), principal })
  }
  await updateDeploymentStatus(tx, state, { status, deployedAt: status === 'success' ? now : null }, now)
  if (status === 'success') await refreshLive(tx, state)
}

/**
 * Stores that a deployment no longer runs. A person says so of what they look at; a credential of
 * what no stronger one has stated. Throws 403 `forbidden` and `other_lane`, 404, 409 `not_live`.
 */
export async function closeLiveDeployment(services: Services, actor: Actor, id: string, reason: string): Promise<void> {
  const now = services.clock.now()
  const key = { org_id: actor.org_id, id }
  await services.sql.begin(async (tx) => {
    const state = await lockDeployment(tx, key)
    if (state === null) throw createNotFoundError('deployment')
    const trust = await readLane(tx, actor, state)
    const lane = await findLiveLane(tx, key)
    if (lane === null) throw notLive()
    if (trust !== 'ui' && isWeaker(trust, lane))
      throw otherLane('A credential of another kind has stated the deployment')
    await updateLiveEnded(tx, key, now)
    await refreshLive(tx, key)
    const { principal } = toRecorded(actor)
    const object = { type: 'deployment', id }
    await insertAuditEntry(
      tx,
      actor.org_id,
      { principal, action: 'deployment.end_live', object, reason, details: { trust } },
      now,
    )
  })
}

/** Who a statement is recorded as. The audit log has no jobs, so that Shiplock names theirs. */
function toRecorded(actor: Actor): Author {
  if (actor.credential.type !== 'oidc_trust') return toAuthor(actor, {})
  return { principal: SYSTEM, reason: `Stated by ${formatCredential(actor)}.` }
}
