import assert from 'node:assert/strict'
import { Errors } from 'typebox/value'
import type { Scope } from '../../src/access/scopes.ts'
import type { Author } from '../../src/audit/audit.store.ts'
import { Deployment } from '../../src/deployments/deployment.schema.ts'
import { createGate } from '../../src/deployments/gates/configure-gate.ts'
import type { Answer, Caller, TestApi } from './api.ts'
import { createRun } from './ci-runs.ts'
import type { Json } from './json.ts'

const TEST: Author = { principal: { type: 'command_line', id: null, name: 'test' }, reason: null }

type GateOptions = {
  name: string
  environment: string
  repository: string | null
  branch: string | null
  requiredApprovals: number
  allowApiKeys: boolean
  allowRunCreator: boolean
  policies: string[]
  approveByPolicies: boolean
  requireLinkedAccounts: boolean
}

/**
 * Configures a gate for `production` that one API key can approve, unless `fields` override it.
 */
export function configureGate({ services }: TestApi, { orgId }: Caller, fields: Partial<GateOptions> = {}) {
  const { requiredApprovals = 1, allowApiKeys = true, allowRunCreator = true, approveByPolicies, ...rest } = fields
  const { requireLinkedAccounts = false, ...others } = rest
  return createGate(services, orgId, TEST, {
    name: 'Production',
    environment: 'production',
    repository: null,
    branch: null,
    required_approvals: requiredApprovals,
    allow_api_keys: allowApiKeys,
    allow_run_creator: allowRunCreator,
    require_linked_accounts: requireLinkedAccounts,
    policies: [],
    ...(approveByPolicies !== undefined && { approve_by_policies: approveByPolicies }),
    ...others,
  })
}

export function postGate(api: TestApi, { key }: Caller, body: object): Promise<Answer> {
  return api.request('POST', '/v1/ci/gates', { key, body })
}

/**
 * Opens a gate and returns the response data. Without a run_id it first creates a run and
 * configures a gate.
 */
export async function openGate(api: TestApi, caller: Caller, fields: Record<string, unknown> = {}): Promise<Json> {
  if (fields.run_id === undefined) await configureGate(api, caller, { name: nextName() })
  const run_id = fields.run_id ?? (await createRun(api, caller)).id
  const { status, body, text } = await postGate(api, caller, { environment: 'production', ...fields, run_id })
  if (status !== 201) throw new Error(`openCiGate answered ${status}: ${text}`)
  return body.data
}

let made = 0

function nextName(): string {
  made += 1
  return `gate ${made}`
}

/** Polls a gate that `openGate` returned. */
export function pollGate(api: TestApi, gate: Json, headers: Record<string, string> = {}): Promise<Answer> {
  return api.request('GET', `/v1/ci/gates/${gate.gate_id}`, { key: gate.poll_token, headers })
}

export const REASON = 'Release 1.2 was announced for today.'

/**
 * Approves or rejects a deployment with a valid reason unless a body is given, by the approver of
 * the caller.
 */
export async function answer(
  api: TestApi,
  caller: Caller,
  deploymentId: string,
  verb: 'approve' | 'reject',
  body: unknown = { reason: REASON },
): Promise<Answer> {
  return answerWithKey(api, await approverOf(api, caller), deploymentId, verb, body)
}

/** The same by the caller's own key. */
export function answerWithKey(
  api: TestApi,
  { key }: Pick<Caller, 'key'>,
  deploymentId: string,
  verb: 'approve' | 'reject',
  body: unknown = { reason: REASON },
): Promise<Answer> {
  return api.request('POST', `/v1/deployments/${deploymentId}/${verb}`, { key, body })
}

const approvers = new Map<string, Promise<Caller>>()

/**
 * A key that answers what the caller's key may open: it has the same scopes but `write:ci`, and was
 * created by a person of its own. It has the same limits. The caller itself if its key opens no gates.
 */
export function approverOf(api: TestApi, caller: Caller): Promise<Caller> {
  const known = approvers.get(caller.keyId) ?? makeApprover(api, caller)
  approvers.set(caller.keyId, known)
  return known
}

async function makeApprover(api: TestApi, caller: Caller): Promise<Caller> {
  const { sql, clock } = api.services
  const [key] = await sql<{ scopes: Scope[]; repositories: string[] | null }[]>`
    select scopes, repositories
    from api_keys
    where id = ${caller.keyId}`
  const scopes = key?.scopes.filter((scope) => scope !== 'write:ci') ?? []
  if (scopes.length === 0 || scopes.length === key?.scopes.length) return caller
  const [person] = await sql<[{ id: string }]>`
    insert into users (id, email, name, created_at)
    values (gen_random_uuid(), gen_random_uuid() || '@example.com', 'Grace Hopper', ${clock.now()})
    returning id`
  const approver = await api.caller({ orgId: caller.orgId, scopes, createdByUserId: person.id })
  await sql`
    update api_keys
    set repositories = ${key?.repositories ?? null}
    where id = ${approver.keyId}`
  return approver
}

/** Returns a deployment after checking it against its schema. */
export async function getDeployment(api: TestApi, { key }: Caller, id: string): Promise<Json> {
  const { status, body, text } = await api.request('GET', `/v1/deployments/${id}`, { key })
  if (status !== 200) throw new Error(`getDeployment answered ${status}: ${text}`)
  assert.deepEqual(Errors(Deployment, body.data), [])
  return body.data
}

/** The audit entries of an object, oldest first. */
export async function auditOf({ services: { sql } }: TestApi, { orgId }: Caller, objectId: string): Promise<Json[]> {
  const rows = await sql<Json[]>`
    select principal_type, principal_id, principal_name, action, object_type, reason, details, at
    from audit_entries
    where org_id = ${orgId}
      and object_id = ${objectId}
    order by at, id`
  return rows.map((row) => ({ ...row }))
}
