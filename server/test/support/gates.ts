import assert from 'node:assert/strict'
import { Errors } from 'typebox/value'
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
}

/**
 * Configures a gate for `production` that one API key can approve, unless `fields` override it.
 */
export function configureGate({ services }: TestApi, { orgId }: Caller, fields: Partial<GateOptions> = {}) {
  const { requiredApprovals = 1, allowApiKeys = true, allowRunCreator = true, approveByPolicies, ...others } = fields
  return createGate(services, orgId, TEST, {
    name: 'Production',
    environment: 'production',
    repository: null,
    branch: null,
    required_approvals: requiredApprovals,
    allow_api_keys: allowApiKeys,
    allow_run_creator: allowRunCreator,
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

/** Approves or rejects a deployment, with a valid reason unless a body is given. */
export function answer(
  api: TestApi,
  { key }: Caller,
  deploymentId: string,
  verb: 'approve' | 'reject',
  body: unknown = { reason: REASON },
): Promise<Answer> {
  return api.request('POST', `/v1/deployments/${deploymentId}/${verb}`, { key, body })
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
