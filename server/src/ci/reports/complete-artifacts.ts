import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { findMismatch, type Mismatch } from '../../platform/objects/verify-object.ts'
import type { Services } from '../../services.ts'
import type { TrustClass } from '../runs/trust.ts'
import type { Completion } from './artifact.schema.ts'
import {
  countRunBytes,
  findArtifactsById,
  findArtifactsByPath,
  type ReportKey,
  type StoredArtifact,
  updateArtifactStatus,
} from './artifact.store.ts'
import { formatArtifactKey } from './artifact-object.ts'
import { deleteArtifacts, insertArtifactRemovals } from './artifact-removal.store.ts'
import { type LostEvidence, listLostEvidence } from './attestation.store.ts'
import { publishChange, publishLoss, withLockedReport } from './change-report.ts'
import type { ReportPath } from './report.schema.ts'

/** By artifact id; null where the stored file matches. */
type Mismatches = Map<string, Mismatch | null>
type Settling = {
  actor: Actor
  report: ReportKey
  trust: TrustClass
  mismatches: Mismatches
  lost: LostEvidence[]
  now: Date
}

/**
 * Compares uploaded files with their declared size and checksum, and deletes those that do not
 * match. What was stored at the path stays until the new file is found good (ci-evidence §2). A
 * file that was sent in time but completed after its slot closed is rejected with `run_quota` when
 * the quota of the run is used up by then. Safe to repeat, in any order and
 * concurrently: a settled artifact returns its stored result. Throws 403 `other_lane`,
 * 404 and 429.
 */
export async function completeArtifacts(services: Services, actor: Actor, path: ReportPath, ids: string[]) {
  const report = { org_id: actor.org_id, ...path }
  const mismatches = await findMismatches(services, actor, await findArtifactsById(services.sql, report, ids))
  const settled = await withLockedReport(services, actor, report, async (tx, trust, place) => {
    const now = services.clock.now()
    const lost: LostEvidence[] = []
    const results = await settleAll(tx, { actor, report, trust, mismatches, lost, now }, ids)
    await publishLoss(tx, { actor, report: { ...report, ...place }, lost, now })
    await publishChange(services, tx, report)
    return results
  })
  const rejected = [...settled.values()].filter(({ status }) => status === 'rejected')
  await Promise.all(
    rejected.map(({ artifact_id }) => services.objects.remove(formatArtifactKey(actor.org_id, artifact_id))),
  )
  const results = ids.map(
    (id): Completion => settled.get(id) ?? { artifact_id: id, status: 'missing', reason: 'unknown_artifact' },
  )
  return { report_id: report.report_id, results }
}

/** Runs before the locks are taken, because a store without checksums has to read every file. */
async function findMismatches({ objects }: Services, actor: Actor, artifacts: StoredArtifact[]): Promise<Mismatches> {
  const pending = artifacts.filter(({ status }) => status === 'pending')
  const found = pending.map(async ({ id, size, sha256 }) => {
    return [id, await findMismatch(objects, formatArtifactKey(actor.org_id, id), { sizeBytes: size, sha256 })] as const
  })
  return new Map(await Promise.all(found))
}

/**
 * Settles pending artifacts in the order of the request: where the quota is short, the first ones
 * get what is left.
 */
async function settleAll(tx: Tx, settling: Settling, ids: string[]): Promise<Map<string, Completion>> {
  const found = await findArtifactsById(tx, settling.report, ids)
  const artifacts = new Map(found.map((artifact) => [artifact.id, artifact]))
  const results = new Map<string, Completion>()
  for (const id of new Set(ids)) {
    const artifact = artifacts.get(id)
    if (artifact) results.set(id, await settleOne(tx, settling, artifact))
  }
  return results
}

async function settleOne(tx: Tx, settling: Settling, artifact: StoredArtifact): Promise<Completion> {
  const { id, status, reason } = artifact
  if (status !== 'pending') return { artifact_id: id, status, reason }
  const result = await decideResult(tx, settling, artifact)
  if (result.status === 'missing') return { artifact_id: id, ...result }
  const { org_id } = settling.actor
  if (result.status === 'uploaded') {
    const { report, lost } = settling
    lost.push(...(await listLostEvidence(tx, report, { attestations: [], artifacts: [artifact] }, false)))
    await deleteArtifacts(tx, report, [artifact.path], 'uploaded')
  }
  const settled = await updateArtifactStatus(tx, org_id, id, { ...result, completed_at: settling.now })
  if (settled && result.status === 'rejected') await insertArtifactRemovals(tx, org_id, [artifact])
  return { artifact_id: id, ...result }
}

type Result = { status: 'missing'; reason: null } | { status: 'uploaded' | 'rejected'; reason: string | null }

/** An artifact that was added after the files were compared is `missing`. */
async function decideResult(tx: Tx, settling: Settling, artifact: StoredArtifact): Promise<Result> {
  const mismatch = settling.mismatches.has(artifact.id) ? settling.mismatches.get(artifact.id) : 'missing'
  if (mismatch === 'missing') return { status: 'missing', reason: null }
  if (mismatch) return { status: 'rejected', reason: mismatch }
  return (await fitsQuota(tx, settling, artifact))
    ? { status: 'uploaded', reason: null }
    : { status: 'rejected', reason: 'run_quota' }
}

/**
 * An open slot counts toward the quota of its run already; a closed one does not, so it has to fit
 * again.
 */
async function fitsQuota(tx: Tx, { actor, report, trust, now }: Settling, artifact: StoredArtifact): Promise<boolean> {
  if (artifact.put_until > now) return true
  const [kept] = (await findArtifactsByPath(tx, report, [artifact.path])).filter(({ status }) => status === 'uploaded')
  const growth = Math.max(0, artifact.size - (kept?.size ?? 0))
  return (await countRunBytes(tx, report, trust, now)) + growth <= actor.plan.artifact_bytes_per_run_max
}
