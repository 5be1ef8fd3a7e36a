import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { IngestClient } from '../support/ingest-client.ts'
import type { Json } from '../support/json.ts'
import { sarif, sarifResult } from '../support/sarif.ts'
import type { Client } from './client.ts'

/** Requests that belong together, as the client of a CI job sends them. Throws if one fails. */
export type Journey = (clients: Clients) => Promise<void>

export type Clients = {
  /** With an API key. */
  client: Client
  /** With a key that answers gates. */
  approver: Client
  /** With a token of a job that no other client has. */
  ingest(): IngestClient
}

const COMMIT = 'c'.repeat(40)
const FILE_BYTES = 200_000
const PIECE_BYTES = 20_000
const PIECE_EVERY_MS = 20
const REPORT_EVERY_MS = 1000
const REASON = 'The release was announced for today.'

/** All of them; the name is for what a test says. */
export const JOURNEYS: Record<string, Journey> = {
  run: sendRun,
  upload: sendUpload,
  report: paced(report),
  ingest: paced(sendJob),
  gate,
}

/** A caller may send 300 requests of reports a minute, and a journey has three. */
function paced(journey: Journey): Journey {
  return async (clients) => void (await Promise.all([journey(clients), delay(REPORT_EVERY_MS)]))
}

async function sendRun({ client }: Clients): Promise<void> {
  const run = await createRun(client)
  await client.done('PATCH', `/v1/ci/runs/${run.id}`, { status: 'success' })
  await client.done('GET', '/v1/runs?limit=5')
}

async function createRun(client: Client): Promise<Json> {
  const external_run_id = randomUUID()
  const run = { ci_system: 'jenkins', external_run_id, repository: 'github.com/acme/shop', pipeline_name: 'build' }
  return client.done('POST', '/v1/ci/runs', { ...run, commit_sha: COMMIT })
}

/** A security report, whose file takes a while to send. */
async function sendUpload({ client }: Clients): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(sarif([sarifResult('r1')], randomUUID())).padEnd(FILE_BYTES))
  const body = { filename: 'report.sarif', size: bytes.length, sha256: hash(bytes), repository: 'acme/shop' }
  const { upload, put } = await client.done('POST', '/v1/security/uploads', body)
  await client.put(put, slowly(bytes))
  await client.done('POST', `/v1/security/uploads/${upload.id}/complete`)
  await client.done('GET', `/v1/security/uploads/${upload.id}`)
}

async function report({ client }: Clients): Promise<void> {
  const { id: runId } = await createRun(client)
  const tests = { kind: 'test-results', name: 'unit', data: { passed: 3, failed: 0, skipped: 0, errors: 0 } }
  const reports = `/v1/ci/runs/${runId}/reports`
  const { report_id } = await client.done('POST', reports, { job: { name: 'test' }, attestations: [tests] })
  const bytes = Buffer.alloc(FILE_BYTES, randomUUID())
  const artifact = { path: 'dist/app.tar', size: bytes.length, sha256: hash(bytes) }
  const { uploads } = await client.done('POST', `${reports}/${report_id}/artifacts`, { artifacts: [artifact] })
  for (const slot of uploads) await client.put(slot, slowly(bytes))
  const artifact_ids = uploads.map((slot: Json) => slot.artifact_id)
  const completed = await client.done('POST', `${reports}/${report_id}/artifacts/complete`, { artifact_ids })
  requireStored(completed.results)
}

/** A job reports with its token, by the protocol of the public action. Its file is chunked. */
async function sendJob({ ingest }: Clients): Promise<void> {
  const job = ingest()
  const { report: answer, results } = await job.send({}, { 'dist/app.tar': Buffer.alloc(FILE_BYTES, randomUUID()) })
  if (answer.status !== 200) throw new Error(`${answer.status} to a job's report: ${answer.text}`)
  requireStored(results)
  if (job.pauses.length + job.putsRepeated > 0) throw new Error('A call of a job failed at first')
}

function requireStored(results: Json[]): void {
  if (results.length !== 1 || results[0].status !== 'uploaded')
    throw new Error(`not stored: ${JSON.stringify(results)}`)
}

/** A job waits for its gate with long polls, while an API key approves it. */
async function gate({ client, approver }: Clients): Promise<void> {
  const { id: run_id } = await createRun(client)
  const opened = await client.done('POST', '/v1/ci/gates', { run_id, environment: 'production', job: 'deploy' })
  const poller = client.withKey(opened.poll_token)
  const decided = untilDecided(poller, opened.gate_id)
  const approved = delay(PIECE_EVERY_MS * 10).then(() =>
    approver.done('POST', `/v1/deployments/${opened.deployment_id}/approve`, { reason: REASON }),
  )
  const [decision] = await Promise.all([decided, approved])
  if (decision !== 'approved') throw new Error(`The gate is ${decision}`)
}

async function untilDecided(poller: Client, id: string): Promise<string> {
  for (;;) {
    const { status, decision } = await poller.done('GET', `/v1/ci/gates/${id}`, undefined, { prefer: 'wait=10' })
    if (status !== 'waiting') return decision
  }
}

/** A file in pieces, with a pause before each one. */
async function* slowly(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    await delay(PIECE_EVERY_MS)
    yield bytes.subarray(at, at + PIECE_BYTES)
  }
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
