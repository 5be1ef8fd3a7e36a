import type { Lane } from '../../ci/runs/trust.ts'
import { listSubjectsBesideArtifact } from '../../ci/subjects/subject.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ReportSource } from '../../security/formats/report/parsed-report.ts'
import { DISTRIBUTION_TYPES } from '../../security/vocabulary/package-url.ts'
import { normalizeToolName } from '../../security/vocabulary/stream-name.ts'
import { insertComponents } from './component-writing.store.ts'
import {
  findNewestSbom,
  insertSbom,
  insertSbomCommit,
  lockSbomStream,
  type SeenAgainSbom,
  updateReplacedStreams,
  updateSbomStream,
  updateSeenAgainStreams,
} from './sbom.store.ts'
import type { Sbom, SbomSubject } from './sbom.ts'
import { compareContents } from './stream-contents.ts'

/** Reads what a bill of materials contains. Null for a file of another format. */
export async function readSbom(source: ReportSource, format: string): Promise<Sbom | null> {
  if (format === 'cyclonedx') return (await import('./cyclonedx-sbom.parser.ts')).parseCycloneDxSbom(source)
  if (format === 'spdx') return (await import('./spdx-sbom.parser.ts')).parseSpdxSbom(source)
  return null
}

/** Who sent a document, and what it is about. */
export type SbomReport = {
  org_id: string
  upload_id: string
  /** The file of a report that the document is; null if it was uploaded by itself. */
  artifact_id: string | null
  repository_no: number
  category: string | null
  git_ref: string | null
  format: string
  lane: Lane
  commit_sha: string | null
  tracked: boolean
  complete: boolean | null
  confirmed: boolean
  reported_at: Date
}

/** What a document changed of what is present in its stream. */
export type RecordedSbom = {
  subject: string | null
  /** The numbers of facts that are present and were not, or no longer are. */
  changed: number[]
  /** The document names another operating system, so that the releases of packages are others. */
  hasOtherSystem: boolean
}

/**
 * Stores a document in the transaction that finishes its upload. An unchanged document only adds
 * its commit to the one before. One that is older than the newest of its stream is kept for its own
 * commit, and changes nothing that is present.
 */
export async function recordSbom(tx: Tx, report: SbomReport, sbom: Sbom): Promise<RecordedSbom> {
  const { org_id, upload_id, reported_at } = report
  const tool = normalizeToolName(sbom.tool)
  const stream = await lockSbomStream(tx, { ...report, tool, subject: sbom.subject }, report.tracked)
  const numbers = await insertComponents(tx, org_id, sbom.components, reported_at)
  const document = {
    numbers,
    parents: sbom.components.map(({ parent }) => parent),
    isComplete: sbom.skipped === 0 && !sbom.truncated && report.complete !== false,
    isConfirmed: report.confirmed,
  }
  const { added, removed, removedSince, contents } = compareContents(stream, document, reported_at)
  const isOlder = stream.reported_at > reported_at
  const newest = await findNewestSbom(tx, org_id, stream.id)
  const hasOtherSystem = newest !== null && newest.operating_system !== sbom.operatingSystem
  const isUnchanged = newest !== null && added.length === 0 && removed.length === 0 && !hasOtherSystem
  const no = isUnchanged
    ? newest.no
    : await insertSbom(tx, {
        org_id,
        id: upload_id,
        stream_id: stream.id,
        is_older: isOlder,
        subjects: await selectSubjects(tx, report, sbom.subjects),
        operating_system: sbom.operatingSystem,
        package_types: collectPackageTypes(sbom),
        components: sbom.components.length,
        skipped: sbom.skipped,
        truncated: sbom.truncated,
        // The first document of a stream is all that is present.
        added: newest === null ? [] : added,
        removed,
        removed_since: removedSince,
        created_at: reported_at,
      })
  await insertSbomCommit(tx, org_id, no, report)
  if (isOlder) return { subject: sbom.subject, changed: [], hasOtherSystem: false }
  await updateSbomStream(tx, { org_id, id: stream.id }, report, contents)
  const replaced = await updateReplacedStreams(tx, { ...report, subject: sbom.subject }, stream.id, reported_at)
  const before = new Set(stream.has_ended ? [] : stream.present)
  const changed = [...before.symmetricDifference(new Set(contents.present)), ...replaced]
  return { subject: sbom.subject, changed, hasOtherSystem }
}

/**
 * What a document is about (inventory §8.21): what its report names comes first. If the document
 * names some of that itself, it is about no more.
 */
async function selectSubjects(
  tx: Tx,
  { org_id, artifact_id }: SbomReport,
  own: readonly SbomSubject[],
): Promise<SbomSubject[]> {
  const reported = artifact_id === null ? [] : await listSubjectsBesideArtifact(tx, org_id, artifact_id)
  if (reported.length === 0) return [...own]
  const named = reported.filter(({ sha256 }) => own.some((subject) => subject.sha256 === sha256))
  return named.length > 0 ? named : reported
}

/** The kinds of packages of a document: a distribution's with the distribution. */
function collectPackageTypes({ components }: Sbom): string[] {
  const types = components.flatMap(({ component: { identity, type, namespace } }) => {
    if (identity !== 'purl') return []
    return [DISTRIBUTION_TYPES.has(type) ? `${type}/${namespace?.toLowerCase() ?? ''}` : type]
  })
  return [...new Set(types)].sort()
}

/** Notes that an upload was sent again for another commit, whose contents are the same. */
export async function updateSbomSeenAgain(tx: Tx, seen: SeenAgainSbom): Promise<void> {
  for (const streamId of await updateSeenAgainStreams(tx, seen)) {
    const newest = await findNewestSbom(tx, seen.org_id, streamId)
    if (newest !== null) await insertSbomCommit(tx, seen.org_id, newest.no, { ...seen, reported_at: seen.at })
  }
}
