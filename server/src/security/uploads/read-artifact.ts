import { hash } from 'node:crypto'
import { sortMatrix } from '../../ci/reports/create-report.ts'
import { findReadableArtifact, type ReadableArtifact } from '../../ci/reports/report.store.ts'
import { recordFigures } from '../../ci/reports/save-attestations.ts'
import { getLane } from '../../ci/runs/trust.ts'
import type { Provider } from '../../codehosts/catalogue.ts'
import { findOrganizationById, isRepositoryVexAccepted } from '../../organizations/organization.store.ts'
import type { Plan } from '../../organizations/plan.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createHexId } from '../../platform/ids.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { findOnHost } from '../../repositories/repository.store.ts'
import { isTracked, normalizeRepositoryId, splitAddress } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { lockReportedRepository } from '../repositories/reported-repository.store.ts'
import { updateNamedRepository } from '../repositories/seen-repository.store.ts'
import { type ResolvedRepository, selectRepository } from '../repositories/select-repository.ts'
import { readUploadJob } from './read-upload.job.ts'
import {
  countRunUploads,
  findArtifactFigures,
  insertUpload,
  type NewUploadRow,
  updateFailedArtifact,
} from './upload.store.ts'
import { updateFailed } from './upload-state.store.ts'

const FILENAME_CHARS_MAX = 200

/**
 * Queues the reading of an artifact that a scan or SBOM attestation names, as an upload with the
 * origin `report`. An artifact that was read before is not read again: attestations that came since
 * get its figures. One whose reading failed is read again, because it was attested again.
 */
export async function readArtifact(
  services: Services,
  payload: { org_id: string; artifact_id: string },
): Promise<void> {
  const { org_id, artifact_id } = payload
  const now = services.clock.now()
  await services.sql.begin(async (tx) => {
    const artifact = await findReadableArtifact(tx, org_id, artifact_id)
    const organization = await findOrganizationById(tx, org_id)
    const plan = organization && services.plans.get(organization.plan)
    // An empty artifact is no report, and an upload has at least one byte.
    if (!artifact || artifact.size === 0 || !plan) return
    const upload = await toUpload(tx, { orgId: org_id, id: artifact_id, artifact, now })
    const refusal = await findRefusal(tx, org_id, artifact, plan)
    const upload_id =
      (await insertUpload(tx, upload, now)) ?? (await updateFailedArtifact(tx, org_id, artifact_id, now))
    if (upload_id === null) {
      const figures = await findArtifactFigures(tx, org_id, artifact_id)
      if (figures !== null) await recordFigures(tx, { org_id, id: artifact_id }, figures, now)
    } else if (refusal === null) await enqueue(tx, readUploadJob, { org_id, upload_id })
    else await updateFailed(tx, { org_id, id: upload_id }, { error: refusal, format: null }, now)
  })
}

type ArtifactToRead = { orgId: string; id: string; artifact: ReadableArtifact; now: Date }

async function toUpload(tx: Tx, { orgId, id, artifact, now }: ArtifactToRead): Promise<NewUploadRow> {
  const repository = await resolveArtifactRepository(tx, orgId, artifact)
  await updateNamedRepository(tx, orgId, repository)
  const lane = getLane(artifact.trust)
  return {
    org_id: orgId,
    id: createHexId(),
    repository_no: await lockReportedRepository(tx, orgId, repository, now),
    origin: 'report',
    requested_format: 'auto',
    filename: artifact.path.split('/').at(-1)?.slice(0, FILENAME_CHARS_MAX) ?? artifact.path,
    size: artifact.size,
    sha256: artifact.sha256,
    category: computeArtifactCategory(artifact),
    git_ref: artifact.ref ?? repository.tracked_branch,
    lane,
    commit_sha: artifact.commit_sha,
    // Findings of code of strangers open no issues (decisions §7).
    tracked:
      lane !== 'untrusted' && artifact.event !== 'pull_request' && isTracked(artifact.ref, repository.tracked_branch),
    complete: null,
    may_triage: lane === 'verified' && (await isRepositoryVexAccepted(tx, orgId)),
    sender_id: artifact.run_id,
    sender_name: `CI job ${artifact.job_name}`.slice(0, SENDER_CHARS_MAX),
    created_by: null,
    put_until: now,
    artifact: { id, runId: artifact.run_id },
  }
}

/** By the id that a token or the code host names, or else by the address of the run. */
function resolveArtifactRepository(
  tx: Tx,
  orgId: string,
  { repository: address, repository_key: key }: ReadableArtifact,
): Promise<ResolvedRepository> {
  const provider = key && (key.provider as Provider)
  if (provider === null || normalizeRepositoryId(provider, key?.id ?? '') === null)
    return resolveOnHost(tx, orgId, address)
  const { name } = splitAddress(address)
  return selectRepository(tx, orgId, { name, provider, providerId: key?.id ?? null })
}

/**
 * A run names the host, so its repository is never ambiguous. One that is not connected is known by
 * name only.
 */
async function resolveOnHost(tx: Tx, orgId: string, address: string): Promise<ResolvedRepository> {
  const { host, name } = splitAddress(address)
  const linked = await findOnHost(tx, orgId, host, name)
  if (!linked) return { name, provider: null, provider_id: null, tracked_branch: null, kept_under: [] }
  const { full_name, provider, id } = linked
  return selectRepository(tx, orgId, { name: full_name, provider: provider as Provider, providerId: id })
}

/**
 * The error of an upload that the plan does not allow, or null. Counted under the lock that
 * `toUpload` took.
 */
async function findRefusal(tx: Tx, orgId: string, artifact: ReadableArtifact, plan: Plan): Promise<string | null> {
  if (!plan.features.includes('security_uploads')) return `The plan ${plan.name} does not include security uploads.`
  if (artifact.size > plan.security_report_bytes_max) {
    return `The plan ${plan.name} allows reports of up to ${plan.security_report_bytes_max} bytes.`
  }
  const max = plan.security_uploads_per_commit_max
  if ((await countRunUploads(tx, orgId, artifact.run_id, getLane(artifact.trust))) < max) return null
  return `The plan ${plan.name} allows ${max} security reports per run.`
}

const SENDER_CHARS_MAX = 200
const CATEGORY_CHARS_MAX = 100
const DIGEST_CHARS = 12

/**
 * The category of a report that a job sends as an artifact. Reports of the same job and matrix of
 * the same pipeline, with the same path, have the same category, so that only they close each
 * other's findings. The host is a part of it, because repositories of the same name on two hosts
 * are one repository until they are connected. Reports of jobs that may have run code of strangers
 * have a category of their own, so that they never close the findings of other reports.
 */
export function computeArtifactCategory(artifact: ReadableArtifact): string {
  const { repository, pipeline_name, job_name, matrix, report_name, path, trust } = artifact
  const { host } = splitAddress(repository)
  const strange = trust === 'untrusted' ? [trust] : []
  const identity = [host, pipeline_name, job_name, sortMatrix(matrix), report_name, path, ...strange]
  const digest = hash('sha256', JSON.stringify(identity), 'hex').slice(0, DIGEST_CHARS)
  const readable = `ci/${pipeline_name}/${job_name}`.replaceAll(/[^A-Za-z0-9._/:-]/g, '-')
  return `${readable.slice(0, CATEGORY_CHARS_MAX - DIGEST_CHARS - 1)}:${digest}`
}
