import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { PolicyInput } from '../../src/compliance/policies/policy-input.schema.ts'
import { readPolicyInputs } from '../../src/compliance/policies/read-policy-input.ts'
import type { Db } from '../../src/platform/db/sql.ts'
import type { Answer, Caller, TestApi } from './api.ts'
import type { Json } from './json.ts'

/** The path parameters of a report. The result of createCiReport has both. */
type ReportName = { run_id: string; report_id: string }
export type Slot = { artifact_id: string; path: string; url: string; method: string; headers: Record<string, string> }
export type Artifact = { path: string; size: number; sha256: string }

export function postReport(api: TestApi, { key }: Caller, runId: string, body: unknown = { job: {} }): Promise<Answer> {
  return api.request('POST', `/v1/ci/runs/${runId}/reports`, { key, body })
}

/**
 * Sends a report of the job `test` and returns the result. `fields` replace or add members of the
 * body.
 */
export async function sendReport(
  api: TestApi,
  caller: Caller,
  runId: string,
  fields: Record<string, unknown> = {},
): Promise<Json> {
  const { status, body, text } = await postReport(api, caller, runId, { job: { name: 'test' }, ...fields })
  assert.ok(status === 201 || status === 200, text)
  return body.data
}

export function postAttestations(api: TestApi, caller: Caller, report: ReportName, attestations: unknown) {
  return post(api, caller, report, 'attestations', { attestations })
}

export function postArtifacts(api: TestApi, caller: Caller, report: ReportName, artifacts: unknown) {
  return post(api, caller, report, 'artifacts', { artifacts })
}

export function postComplete(api: TestApi, caller: Caller, report: ReportName, artifact_ids: unknown) {
  return post(api, caller, report, 'artifacts/complete', { artifact_ids })
}

function post(api: TestApi, { key }: Caller, { run_id, report_id }: ReportName, call: string, body: unknown) {
  return api.request('POST', `/v1/ci/runs/${run_id}/reports/${report_id}/${call}`, { key, body })
}

/** The artifact that a client declares for `bytes`. */
export function artifactOf(path: string, bytes: string | Buffer): Artifact {
  return { path, size: Buffer.byteLength(bytes), sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** An artifact that is declared and never sent. */
export function fileOf(path: string, size: number): Artifact {
  return { path, size, sha256: createHash('sha256').update(path).digest('hex') }
}

/** PUTs the bytes with the URL, method and headers of the slot. */
export function putArtifact({ url, method, headers }: Slot, bytes: string | Buffer): Promise<Response> {
  return fetch(url, { method, headers, body: new Uint8Array(Buffer.from(bytes)) })
}

/** Declares, sends and completes a file of a report. Returns its id. */
export async function uploadArtifact(
  api: TestApi,
  caller: Caller,
  report: ReportName,
  path: string,
  bytes: string | Buffer,
): Promise<string> {
  const { body, text } = await postArtifacts(api, caller, report, [artifactOf(path, bytes)])
  assert.equal(body.data?.uploads.length, 1, text)
  const [slot] = body.data.uploads
  assert.equal((await putArtifact(slot, bytes)).status, 200)
  await assertCompleted(api, caller, report, slot.artifact_id)
  return slot.artifact_id
}

export async function assertCompleted(api: TestApi, caller: Caller, report: ReportName, id: string): Promise<void> {
  const { body, text } = await postComplete(api, caller, report, [id])
  assert.deepEqual(body.data.results, [{ artifact_id: id, status: 'uploaded', reason: null }], text)
}

/** A stored report with its attestations and artifacts, sorted by kind, name and path. */
export async function storedReport({ services: { sql } }: TestApi, { orgId }: Caller, reportId: string) {
  const [report] = await sql<Json[]>`
    select summary, runner, job_name, matrix, name, attempt
    from ci_reports
    where org_id = ${orgId}
      and id = ${reportId}`
  const attestations = await sql<Json[]>`
    select id, kind, name, status, data, parsed
    from ci_attestations
    where org_id = ${orgId}
      and report_id = ${reportId}
    order by kind, name`
  const artifacts = await sql<Json[]>`
    select id, path, status, sha256
    from ci_artifacts
    where org_id = ${orgId}
      and report_id = ${reportId}
    order by path`
  return { report: { ...report }, attestations: attestations.map(copy), artifacts: artifacts.map(copy) }
}

function copy(row: Json): Json {
  return { ...row }
}

export const TESTS = { kind: 'test-results', name: 'unit', data: { passed: 3, failed: 0, skipped: 0, errors: 0 } }
const CLEAN = { tool: 'semgrep', critical: 0, high: 0, medium: 0, low: 0 }

/** A scan attestation with counts of zero. `data` replaces or adds fields. */
export function scan(data: Record<string, unknown> = {}, name = 'sast') {
  return { kind: 'scan', name, data: { ...CLEAN, ...data } }
}

export function sbom(data: Record<string, unknown> = {}, name = 'image') {
  return { kind: 'sbom', name, data: { format: 'cyclonedx', components: 7, ...data } }
}

/** What policies with `scope: attempt` see of an attempt. */
export async function attemptInput(
  db: Db,
  { org_id, run_id, attempt }: { org_id: string; run_id: string; attempt: number },
  now: Date,
): Promise<PolicyInput> {
  const run = { id: run_id, attempt }
  const subject = { org_id, repository: 'github.com/acme/shop', branch: null, run, deployment: null, environment: null }
  const { inputs } = await readPolicyInputs(db, subject, now)('attempt')
  return inputs[0]
}
