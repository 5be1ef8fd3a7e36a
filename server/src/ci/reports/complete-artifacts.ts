import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { findMismatch } from '../../platform/objects/verify-object.ts'
import { publish } from '../../platform/queue/event.ts'
import type { Services } from '../../services.ts'
import { announceNamedArtifacts } from '../artifacts/announce-artifacts.ts'
import { findArtifactsById, type StoredArtifact, settleArtifact, sumRunBytes } from '../artifacts/artifact.store.ts'
import { artifactKey } from '../artifacts/artifact-key.ts'
import { lockRunAndReport } from './lock-report.ts'
import { reportChanged } from './report-changed.event.ts'

export type CompletionResult = {
  artifact_id: string
  status: 'uploaded' | 'rejected' | 'missing'
  reason: string | null
}
type Mismatches = Map<string, Awaited<ReturnType<typeof findMismatch>>>

/**
 * Checks size and checksum of what was PUT. Safe to repeat, in any order and at once: an artifact that is settled is
 * answered as it was. What mismatches is deleted, and so is what comes so late that others took its place in the run's
 * quota (`run_quota`). An id that the report does not have is `missing`: nothing is there.
 */
export async function completeArtifacts(
  services: Services,
  actor: Actor,
  runId: string,
  reportId: string,
  ids: string[],
) {
  const { sql, objects } = services
  const mismatches = await check(services, actor, await findArtifactsById(sql, actor.org_id, reportId, ids))
  const settled = await sql.begin(async (tx) => {
    await lockRunAndReport(tx, actor.org_id, runId, reportId)
    const results = await settle(services, tx, actor, { runId, reportId, ids }, mismatches)
    await announceNamedArtifacts(tx, actor.org_id, reportId)
    await publish(tx, reportChanged, { org_id: actor.org_id, run_id: runId })
    return results
  })
  const rejected = [...settled.values()].filter(({ status }) => status === 'rejected')
  await Promise.all(rejected.map(({ artifact_id }) => objects.remove(artifactKey(actor.org_id, artifact_id))))
  const results = ids.map((id) => settled.get(id) ?? unknown(id))
  return { report_id: reportId, results }
}

/** Settles what is pending, in the order of the request: the earlier ones get what room there is. */
async function settle(
  { clock }: Services,
  tx: Tx,
  actor: Actor,
  { runId, reportId, ids }: { runId: string; reportId: string; ids: string[] },
  mismatches: Mismatches,
): Promise<Map<string, CompletionResult>> {
  const found = await findArtifactsById(tx, actor.org_id, reportId, ids)
  const artifacts = new Map(found.map((artifact) => [artifact.id, artifact]))
  const results = new Map<string, CompletionResult>()
  for (const id of new Set(ids)) {
    const artifact = artifacts.get(id)
    if (!artifact) continue
    const result = await refuseLate(tx, actor, { ...artifact, runId }, resultOf(artifact, mismatches), clock.now())
    results.set(id, result)
    if (artifact.status === 'pending') await settleArtifact(tx, actor.org_id, id, result)
  }
  return results
}

/** Looks at the files before anything is locked: a store that cannot tell checksums has them read through. */
async function check({ objects }: Services, actor: Actor, artifacts: StoredArtifact[]): Promise<Mismatches> {
  const pending = artifacts.filter(({ status }) => status === 'pending')
  const found = pending.map(async ({ id, size, sha256 }) => {
    return [id, await findMismatch(objects, artifactKey(actor.org_id, id), { sizeBytes: size, sha256 })] as const
  })
  return new Map(await Promise.all(found))
}

/** One that came to be meanwhile was not looked at: nothing is known to be there. */
function resultOf({ id, status, reason }: StoredArtifact, mismatches: Mismatches): CompletionResult {
  if (status !== 'pending') return { artifact_id: id, status, reason }
  const mismatch = mismatches.has(id) ? (mismatches.get(id) ?? null) : 'missing'
  if (mismatch === 'missing') return { artifact_id: id, status: 'missing', reason: null }
  return { artifact_id: id, status: mismatch === null ? 'uploaded' : 'rejected', reason: mismatch }
}

/** A slot whose 15 minutes are over holds no place in the run's quota. A file that was PUT in time still gets one if there is one. */
async function refuseLate(
  tx: Tx,
  { org_id, plan }: Actor,
  { id, runId, status, size, put_until }: StoredArtifact & { runId: string },
  result: CompletionResult,
  now: Date,
): Promise<CompletionResult> {
  if (status !== 'pending' || result.status !== 'uploaded' || put_until > now) return result
  const fits = (await sumRunBytes(tx, org_id, runId, now)) + size <= plan.artifact_bytes_per_run_max
  return fits ? result : { artifact_id: id, status: 'rejected', reason: 'run_quota' }
}

function unknown(id: string): CompletionResult {
  return { artifact_id: id, status: 'missing', reason: 'unknown_artifact' }
}
