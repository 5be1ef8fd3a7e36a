import type { Tx } from '../../platform/db/sql.ts'
import type { ReportKey } from '../artifacts/artifact.store.ts'
import {
  type ArtifactKey,
  type AttestationRow,
  lockNaming,
  lockReads,
  type StoredAttestation,
  type StoredRead,
  updateParsed,
  upsertAttestations,
} from './attestation.store.ts'
import { type AttestationKind, deriveStatus, type ReadFile, type StatedKind } from './attestation.ts'

/**
 * Stores attestations of a report. One that replaces another keeps what was read from its artifact
 * as long as it names the same artifact.
 */
export async function storeAttestations(
  tx: Tx,
  report: ReportKey,
  rows: AttestationRow[],
  at: Date,
): Promise<StoredAttestation[]> {
  if (rows.length === 0) return []
  const reads = await lockReads(tx, report)
  return upsertAttestations(
    tx,
    report,
    rows.map((row) => withRead(row, reads)),
    at,
  )
}

function withRead(row: AttestationRow, reads: StoredRead[]) {
  const isSame = ({ kind, name, artifact }: StoredRead) =>
    kind === row.kind && name === row.name && artifact === artifactOf(row.data)
  const parsed = reads.find(isSame)?.parsed ?? null
  return isStated(row.kind) ? { ...row, parsed } : { ...row, parsed, status: deriveStatus(row.kind, row.data, parsed) }
}

function artifactOf(data: { artifact?: unknown }): unknown {
  return data.artifact
}

function isStated(kind: AttestationKind): kind is StatedKind {
  return kind === 'custom' || kind === 'provenance'
}

/** Kinds of attestations whose artifact is read as a security report. */
const REPORT_KINDS = ['scan', 'sbom'] as const

/**
 * Stores the figures read from a security report with the attestations that name it, and derives
 * their statuses.
 */
export async function noteFigures(tx: Tx, artifact: ArtifactKey, parsed: ReadFile, at: Date): Promise<void> {
  for (const { id, kind, data } of await lockNaming(tx, artifact, REPORT_KINDS)) {
    const status = deriveStatus(kind as (typeof REPORT_KINDS)[number], data, parsed)
    await updateParsed(tx, artifact.org_id, { id, parsed, status }, at)
  }
}
