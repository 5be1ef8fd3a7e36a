import type { Tx } from '../../platform/db/sql.ts'
import { ObjectNotFoundError, type ObjectStore } from '../../platform/objects/object-store.ts'
import type { Services } from '../../services.ts'
import { selectWeakest, type TrustClass } from '../runs/trust.ts'
import type { ReportKey } from './artifact.store.ts'
import { formatArtifactKey } from './artifact-object.ts'
import {
  type ArtifactKey,
  type AttestationRow,
  lockNaming,
  lockReads,
  type StoredAttestation,
  type StoredRead,
  updateRead,
  upsertAttestations,
} from './attestation.store.ts'
import {
  type AttestationKind,
  computeStatus,
  type Ownership,
  type ReadFile,
  type ReportFigures,
  type StatedKind,
} from './attestation.ts'
import { OWNERSHIP_BYTES_MAX, parseOwnership } from './ownership-file.parser.ts'

/**
 * Stores attestations of a report. One that replaces another keeps what was read from its artifact
 * as long as it names the same artifact, and is then not more trustworthy than the artifact.
 */
export async function saveAttestations(
  tx: Tx,
  report: ReportKey & { trust: TrustClass; isNew: boolean },
  rows: AttestationRow[],
  at: Date,
): Promise<StoredAttestation[]> {
  if (rows.length === 0) return []
  const reads = report.isNew ? [] : await lockReads(tx, report)
  return upsertAttestations(
    tx,
    report,
    rows.map((row) => withRead(row, report.trust, reads)),
    at,
  )
}

function withRead(row: AttestationRow, stated: TrustClass, reads: StoredRead[]) {
  const named = (row.data as { artifact?: unknown }).artifact
  const isSame = ({ kind, name, artifact }: StoredRead) => kind === row.kind && name === row.name && artifact === named
  const read = reads.find(isSame)
  const parsed = read?.parsed ?? null
  const stored = { ...row, parsed, trust: read ? selectWeakest(stated, read.artifact_trust) : stated }
  if (row.kind === 'custom' || row.kind === 'provenance') return stored
  return { ...stored, status: computeStatus(row.kind, row.data, parsed) }
}

/**
 * Stores the figures read from a security report with the attestations that name it, and derives
 * their statuses.
 */
export async function recordFigures(tx: Tx, artifact: ArtifactKey, figures: ReportFigures, at: Date): Promise<void> {
  await recordRead(tx, artifact, { kinds: ['scan', 'sbom'], read: () => figures }, at)
}

type Reading = { kinds: Exclude<AttestationKind, StatedKind>[]; read(data: object): ReadFile }

/**
 * Stores what was read from an artifact with the attestations that name it. An attestation is not
 * more trustworthy than the artifact with its figures.
 */
async function recordRead(tx: Tx, artifact: ArtifactKey, { kinds, read }: Reading, at: Date): Promise<void> {
  for (const { id, kind, data, ...trusts } of await lockNaming(tx, artifact, kinds)) {
    const parsed = read(data)
    const status = computeStatus(kind as (typeof kinds)[number], data, parsed)
    const trust = selectWeakest(trusts.trust, trusts.artifact_trust)
    await updateRead(tx, artifact.org_id, { id, parsed, status, trust }, at)
  }
}

/**
 * Reads the file that ownership attestations name, and stores the result with them. A file that was
 * replaced in the meantime is not read.
 */
export async function readOwnership(
  services: Services,
  { org_id, artifact_id }: { org_id: string; artifact_id: string },
): Promise<void> {
  const file = await readStart(services.objects, formatArtifactKey(org_id, artifact_id))
  if (file === null) return
  const read = (data: object) => parseOwnership(file, (data as Pick<Ownership, 'format'>).format)
  await services.sql.begin((tx) =>
    recordRead(tx, { org_id, id: artifact_id }, { kinds: ['ownership'], read }, services.clock.now()),
  )
}

/** The bytes of an object up to the first chunk above the limit; null if it does not exist. */
async function readStart(objects: ObjectStore, key: string): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of objects.read(key)) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes > OWNERSHIP_BYTES_MAX) break
    }
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return null
    throw error
  }
  return Buffer.concat(chunks)
}
