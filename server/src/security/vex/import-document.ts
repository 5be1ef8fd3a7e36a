import type { Lane } from '../../ci/runs/trust.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import type { VexFormat } from '../formats/catalogue.ts'
import { readVexDocument } from '../formats/read-report.ts'
import type { ReportSource } from '../formats/report/parsed-report.ts'
import type { VexDocument } from '../formats/report/vex-statement.ts'
import { lockTriaged } from '../writing/grouping.store.ts'
import { applyStatements } from './apply-statements.ts'
import { isOfTrackedBranch } from './verdict.store.ts'
import {
  copyStatements,
  deleteDocument,
  deleteProposals,
  deleteStatements,
  findDocument,
  insertDocument,
  type StoredDocument,
  type VexStream,
} from './vex-document.store.ts'

/** An uploaded VEX document. */
type VexUpload = {
  org_id: string
  upload_id: string
  repository_no: number
  category: string | null
  git_ref: string | null
  tracked: boolean
  lane: Lane
  may_triage: boolean
  sender_id: string
  sender_name: string
  reported_at: Date
  format: VexFormat
  source: ReportSource
}

/** `changed` is the number of findings whose state changed. */
type Imported = { warnings: string[]; changed: number; at: Date }

const PROPOSED =
  'The sender may not triage, so that the document is a proposal: it changes nothing until somebody with the permission Triage or the scope write:triage confirms it.'
const OUTDATED = 'A newer version of this document was processed before. Its statements were not applied.'

/**
 * Stores the statements of a document in place of those of the document before it, and dismisses or
 * reopens findings accordingly. A document of a sender that may not triage is stored as a proposal,
 * which changes nothing (decisions §7). Throws the errors of `readVexDocument`.
 */
export async function importDocument({ clock }: Services, tx: Tx, upload: VexUpload): Promise<Imported> {
  const { org_id, repository_no } = upload
  const id = createUuid(clock.now())
  const document = await writeStatements(tx, upload, id)
  await lockTriaged(tx, org_id, [repository_no])
  // Read after the lock is taken, so that a transaction that commits later has a later time.
  const at = clock.now()
  const stream = toVexStream(upload, document)
  const stored = await findDocument(tx, stream)
  const next = { ...facts(document, upload), id }
  if (stored !== null && isOutdated(next, stored)) {
    await deleteStatements(tx, org_id, id)
    return { warnings: [...document.warnings, OUTDATED], changed: 0, at }
  }
  if (stored !== null) await deleteDocument(tx, org_id, stored.id)
  const { upload_id, sender_id, sender_name } = upload
  // Every branch can say of itself that it is tracked. What a job states at once is about its own,
  // unless this is known to be the tracked one (trust §3).
  const isOfJob = !stream.pending && upload.lane === 'verified'
  const tracked = upload.tracked && (!isOfJob || (await isOfTrackedBranch(tx, upload, upload.git_ref)))
  if (!stream.pending) await deleteProposals(tx, stream, upload_id)
  await insertDocument(tx, { ...stream, ...next, tracked, upload_id, sender_id, sender_name }, at)
  if (stream.pending) return { warnings: [...document.warnings, PROPOSED], changed: 0, at }
  const { changed, matched } = await applyStatements(tx, { org_id, repository_no, at })
  const unmatched = next.statements - (matched.get(id) ?? 0)
  const warning = `Statements that match no finding: ${unmatched}. They apply to what later reports contain.`
  return { warnings: unmatched === 0 ? document.warnings : [...document.warnings, warning], changed, at }
}

async function writeStatements(tx: Tx, { org_id, source, format }: VexUpload, id: string): Promise<VexDocument> {
  const copy = await copyStatements(tx, org_id, id)
  try {
    const document = await readVexDocument(source, format, (batch) => copy.write(batch))
    await copy.end()
    return document
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}

function toVexStream(
  upload: VexUpload,
  { publisher, document_id, series = document_id ?? '' }: VexDocument,
): VexStream {
  const { org_id, repository_no, format, category, git_ref, lane, may_triage } = upload
  return { org_id, repository_no, format, publisher, series, category, git_ref, lane, pending: !may_triage }
}

/** A document cannot be issued after it was uploaded. */
function facts({ document_id, document_version, issued_at, statements }: VexDocument, { reported_at }: VexUpload) {
  const issued = issued_at === null ? reported_at : new Date(issued_at)
  return {
    document_id,
    document_version,
    statements,
    reported_at,
    issued_at: issued > reported_at ? reported_at : issued,
  }
}

type Facts = Omit<StoredDocument, 'id'>

/** Versions of one document are ordered by its own facts, other documents by their uploads. */
export function isOutdated(next: Facts, stored: StoredDocument): boolean {
  if (next.reported_at < stored.reported_at) return true
  if (next.document_id === null || next.document_id !== stored.document_id) return false
  const isSameTime = next.issued_at.getTime() === stored.issued_at.getTime()
  return isSameTime ? isLower(next.document_version, stored.document_version) : next.issued_at < stored.issued_at
}

/** Compares versions like `2` and `1.4.0` by their numbers. */
function isLower(version: string | null, other: string | null): boolean {
  if (version === null || other === null) return false
  const [a, b] = [version, other].map((text) => text.split('.', 3).map((part) => Number.parseInt(part, 10) || 0))
  for (const [index, number] of (a ?? []).entries()) {
    const difference = number - (b?.[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
