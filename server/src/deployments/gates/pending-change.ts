import { hash } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import { findPermissions, requireCovers } from '../../access/members/author.ts'
import { findMemberSince } from '../../access/members/member.store.ts'
import { PERMISSIONS, type Permission } from '../../access/role.ts'
import { type Author, insertAuditEntry, listHistory, type Principal } from '../../audit/audit.store.ts'
import { removePolicy, savePolicy } from '../../compliance/policies/apply-policy.ts'
import { findCurrentPolicy, findPolicy } from '../../compliance/policies/policy.store.ts'
import { findVersion } from '../../compliance/policies/policy-version.store.ts'
import { readPolicyText } from '../../compliance/policy-file/policy.parser.ts'
import {
  policyInRepository,
  proposerRefused,
  secondPersonRequired,
  tooManyPendingChanges,
} from '../../errors/deployments.ts'
import { versionConflict } from '../../errors/organizations.ts'
import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { createUuid, isUuid } from '../../platform/ids.ts'
import { truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import { createGate, deleteGate, type GateChange, mergeGateChange, updateGate } from './configure-gate.ts'
import type { GateSettings, GivenGate } from './configured-gate.schema.ts'
import { findGate, listGatesOfPolicy } from './configured-gate.store.ts'
import { requireGate } from './configured-gate.ts'
import type { PendingChange } from './pending-change.schema.ts'
import {
  countPendingChanges,
  deletePendingChange,
  insertPendingChange,
  listPendingChanges,
  PENDING_CHANGES_MAX,
} from './pending-change.store.ts'

type Needs = Pick<Services, 'sql' | 'clock'>

/** A change as it is proposed; what it is based on has been checked. */
export type ProposedChange = Pick<PendingChange, 'kind' | 'action' | 'object_id' | 'name' | 'content' | 'base_version'>

/**
 * Stores a change of a gate or policy until a second person confirms it (trust §5). Throws 409
 * `too_many_pending_changes`.
 */
export async function createPendingChange(
  { sql, clock }: Needs,
  actor: Actor,
  author: Author,
  change: ProposedChange,
): Promise<PendingChange> {
  const now = clock.now()
  const { org_id, credential } = actor
  const { principal, reason } = author
  const stored = { ...change, id: createUuid(now), reason, created_at: now }
  await sql.begin(async (tx) => {
    await lockName(tx, `pending changes of ${org_id}`)
    if ((await countPendingChanges(tx, org_id)) >= PENDING_CHANGES_MAX) throw tooManyPendingChanges(PENDING_CHANGES_MAX)
    await insertPendingChange(tx, org_id, { ...stored, author_id: credential.id, author_name: principal.name })
    await audit(tx, org_id, stored, { author, verb: 'propose', now })
  })
  return { ...stored, proposed_by: principal }
}

/** One page of the changes that wait, newest first, each with what it would replace. */
export async function listChanges({ sql }: Pick<Needs, 'sql'>, orgId: string, page: Page): Promise<PageRow[]> {
  const changes = await listPendingChanges(sql, orgId, page)
  return Promise.all(
    changes.map(async (change) => {
      const { id, created_at } = change
      return { id, created_at, json: JSON.stringify({ ...change, before: await findBefore(sql, orgId, change) }) }
    }),
  )
}

async function findBefore(db: Db, orgId: string, change: PendingChange): Promise<PendingChange['content']> {
  const { kind, object_id, base_version } = change
  if (object_id === null) return null
  if (kind === 'policy') {
    const version = await findVersion(db, orgId, object_id, base_version)
    return version === null || version.file === null ? null : { file: version.file }
  }
  const gate = await findGate(db, orgId, object_id)
  if (gate === null) return null
  const { id: _id, version: _version, created_at: _created, updated_at: _updated, ...settings } = gate
  return settings
}

/** Who confirms or withdraws a change: a person, or an administrator at the command line. */
export type Settler = { org_id: string; principal: Principal; permissions: readonly Permission[] }

/** An administrator at the command line, who may do everything. */
export function toOperator(org_id: string, principal: Principal): Settler {
  return { org_id, principal, permissions: PERMISSIONS }
}

/**
 * Applies a change in the name of who proposed it. Throws 403 `insufficient_permission`, 404, 409
 * `second_person_required` for who proposed it, 409 `version_conflict` if the gate or policy has
 * changed since, and what the change itself throws.
 */
export async function confirmChange({ sql, clock }: Needs, settler: Settler, id: string): Promise<PendingChange> {
  return sql.begin(async (tx) => {
    const change = await takeChange(tx, settler, id)
    const { proposed_by, reason } = change
    await requireSecond(tx, settler, change)
    const author = { principal: proposed_by as Principal, reason }
    await applyChange(tx, { org_id: settler.org_id, author }, change, clock)
    const confirmed = {
      author: { principal: settler.principal, reason: null },
      verb: 'confirm',
      now: clock.now(),
    } as const
    await audit(tx, settler.org_id, change, confirmed)
    return change
  })
}

/**
 * The second person was there, with the role of now, before the change was proposed: nobody makes
 * one for the purpose. Who proposed it may still make it.
 */
async function requireSecond(tx: Tx, { org_id, principal }: Settler, change: PendingChange): Promise<void> {
  const { proposed_by, created_at: proposedAt } = change
  if (proposed_by?.id === principal.id) throw secondPersonRequired('You have proposed this change.')
  if (!(await findPermissions(tx, org_id, proposed_by?.id ?? '')).includes(NEEDED[change.kind])) throw proposerRefused()
  if (principal.type !== 'user' || principal.id === null) return
  const [since, history] = await Promise.all([
    findMemberSince(tx, org_id, principal.id),
    listHistory(tx, org_id, { type: 'user', id: principal.id }),
  ])
  const isChanged = history.some(({ action, at }) => action.startsWith('member.') && at > proposedAt)
  const isNew = since === null || since > proposedAt || isChanged
  if (isNew) throw secondPersonRequired('You have become a member, or your role was changed, since this was proposed.')
}

/** Takes a change back, also that of another person. Throws 403 and 404. */
export async function removeChange({ sql, clock }: Needs, settler: Settler, id: string): Promise<PendingChange> {
  return sql.begin(async (tx) => {
    const change = await takeChange(tx, settler, id)
    const author = { principal: settler.principal, reason: null }
    await audit(tx, settler.org_id, change, { author, verb: 'withdraw', now: clock.now() })
    return change
  })
}

const NEEDED = { gate: 'manage_gates', policy: 'manage_policies' } as const

async function takeChange(tx: Tx, { org_id, permissions }: Settler, id: string): Promise<PendingChange> {
  const change = isUuid(id.toLowerCase()) ? await deletePendingChange(tx, org_id, id) : null
  if (change === null) throw createNotFoundError('pending change')
  requireCovers(permissions, [NEEDED[change.kind]])
  return change
}

type Change = { org_id: string; author: Author }

async function applyChange(tx: Tx, by: Change, change: PendingChange, clock: Needs['clock']): Promise<void> {
  // The change is a part of this transaction.
  const needs = { clock, sql: { begin: <T>(work: (inner: Tx) => Promise<T>) => work(tx) } }
  if (change.kind === 'gate') await applyGateChange(needs, by, change)
  else await applyPolicyChange(tx, by, change, clock.now())
}

async function applyGateChange(
  needs: Parameters<typeof createGate>[0],
  { org_id, author }: Change,
  { action, object_id, content, base_version }: PendingChange,
): Promise<void> {
  const gate = { org_id, id: object_id ?? '' }
  const settings = content as GateSettings
  if (action === 'create') await createGate(needs, org_id, author, settings)
  else if (action === 'delete') await deleteGate(needs, { ...gate, expected_version: base_version }, author)
  else await updateGate(needs, gate, author, { ...settings, expected_version: base_version })
}

async function applyPolicyChange(
  tx: Tx,
  { org_id, author }: Change,
  { action, name, object_id, content, base_version }: PendingChange,
  now: Date,
): Promise<void> {
  if (action === 'delete') {
    const current = await findCurrentPolicy(tx, org_id, name)
    if (current?.version !== base_version) throw versionConflict('policy', current?.version ?? 0)
    await removePolicy(tx, { org_id, id: object_id ?? '', author, findGates: listGatesOfPolicy }, now)
    return
  }
  const { file: source } = content as { file: string }
  const policy = { definition: readPolicyText(source), source, bundle: null, file: null }
  await savePolicy(tx, org_id, { ...policy, author, expected_version: base_version }, now)
}

const AUDITED_CHARS_MAX = 2000

type Audited = { author: Author; verb: 'propose' | 'confirm' | 'withdraw'; now: Date }

async function audit(
  tx: Tx,
  orgId: string,
  { id, kind, action, object_id, name, content }: Pick<PendingChange, 'id'> & ProposedChange,
  { author, verb, now }: Audited,
): Promise<void> {
  const object = { type: kind, id: object_id ?? id }
  // Of a policy file, its start and its checksum.
  const kept =
    content !== null && 'file' in content
      ? { file: truncate(content.file, AUDITED_CHARS_MAX), sha256: hash('sha256', content.file, 'hex') }
      : content
  const details = { change_id: id, action, name, ...(verb === 'propose' && { content: kept }) }
  await insertAuditEntry(tx, orgId, { ...author, action: `${kind}.${verb}_change`, object, details }, now)
}

/** Checks a new gate as far as it can be checked before it is stored. Throws 400. */
export function toGateCreation(given: GivenGate): ProposedChange {
  const content = requireGate(given, null)
  return { kind: 'gate', action: 'create', object_id: null, name: content.name, content, base_version: 0 }
}

/**
 * The change of a gate, or its deletion (null), as it is proposed. Throws 400, 404 and 409
 * `version_conflict`.
 */
export async function toGateChange(
  { sql }: Needs,
  { org_id, id }: { org_id: string; id: string },
  change: GateChange | null,
): Promise<ProposedChange> {
  const gate = isUuid(id.toLowerCase()) ? await findGate(sql, org_id, id) : null
  if (gate === null) throw createNotFoundError('gate')
  const content = change && mergeGateChange(gate, change).after
  const action = change === null ? 'delete' : 'change'
  return { kind: 'gate', action, object_id: gate.id, name: gate.name, content, base_version: gate.version }
}

/** The next version of a policy as it is proposed. Throws 400 and 409 `version_conflict`. */
export async function toPolicyChange(
  { sql }: Needs,
  orgId: string,
  { file, expected_version }: { file: string; expected_version?: number },
): Promise<ProposedChange> {
  const { name } = readPolicyText(file)
  const current = await findCurrentPolicy(sql, orgId, name)
  const base_version = current?.version ?? 0
  if ((expected_version ?? base_version) !== base_version) throw versionConflict('policy', base_version)
  const action = current === null ? 'create' : 'change'
  return { kind: 'policy', action, object_id: current?.id ?? null, name, content: { file }, base_version }
}

/** The deletion of a policy as it is proposed. Throws 404 and 409 `policy_in_repository`. */
export async function toPolicyDeletion({ sql }: Needs, orgId: string, id: string): Promise<ProposedChange> {
  const policy = isUuid(id) ? await findPolicy(sql, orgId, id) : null
  if (policy === null) throw createNotFoundError('policy')
  const { name, path, version: base_version } = policy
  if (path !== null) throw policyInRepository(path)
  return { kind: 'policy', action: 'delete', object_id: id, name, content: null, base_version }
}
