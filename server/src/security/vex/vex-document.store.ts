import type { Lane } from '../../ci/runs/trust.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { copyField, openCopy } from '../../platform/db/table-copy.ts'
import type { VexFormat } from '../formats/catalogue.ts'
import type { VexStatement } from '../formats/report/vex-statement.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'
import { buildUploadLane } from '../writing/lane.store.ts'

/** What identifies the documents of which only the newest counts, in effect or as a proposal. */
export type VexStream = {
  lane: Lane
  pending: boolean
  org_id: string
  repository_no: number
  format: VexFormat
  publisher: string
  series: string
  category: string | null
  git_ref: string | null
}

export type StoredDocument = {
  id: string
  document_id: string | null
  document_version: string | null
  issued_at: Date
  reported_at: Date
  statements: number
}

export async function findDocument(db: Db, stream: VexStream): Promise<StoredDocument | null> {
  const { org_id, repository_no, format, publisher, series, category, git_ref, lane, pending } = stream
  const [row] = await db<StoredDocument[]>`
    select id, document_id, document_version, issued_at, reported_at, statements
    from vex_documents document
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and format = ${format}
      and publisher = ${publisher}
      -- OpenVEX documents were stored without a series once.
      and (series = ${series} or (series = '' and document_id = ${series}))
      and coalesce(category, '') = coalesce(${category}, '')
      and branch_name(git_ref) is not distinct from branch_name(${git_ref})
      and pending = ${pending}
      and ${buildDocumentLane(db, org_id)} = ${lane}
    order by series desc
    limit 1`
  return row ?? null
}

/** The lane of a row `document`. One that was stored before lanes has that of its upload. */
function buildDocumentLane(db: Db, orgId: string) {
  return db`
    coalesce(
      document.lane,
      (
        select ${buildUploadLane(db, db`upload`)}
        from security_uploads upload
        where upload.org_id = ${orgId}
          and upload.id = document.upload_id
      ),
      'key'
    )`
}

/** A proposal, with who made it. */
export type ProposedDocument = VexStream & StoredDocument & { stated_by_id: string | null; stated_by_name: string }

/** Locks the proposals of an upload until the transaction ends. */
export async function lockProposals(tx: Tx, orgId: string, uploadId: string): Promise<ProposedDocument[]> {
  return tx<ProposedDocument[]>`
    select org_id, repository_no, format, publisher, series, category, git_ref, lane, pending, id, document_id,
      document_version, issued_at, reported_at, statements, stated_by_id, stated_by_name
    from vex_documents
    where org_id = ${orgId}
      and upload_id = ${uploadId}
      and pending
    order by id
    for update`
}

/** Puts a proposal into effect, in the name of who made it and who confirmed it. */
export async function updateConfirmedDocument(
  tx: Tx,
  orgId: string,
  { id, name }: { id: string; name: string },
): Promise<void> {
  await tx`
    update vex_documents
    set pending = false, stated_by_name = ${name}
    where org_id = ${orgId}
      and id = ${id}`
}

/** Removes a document and its statements. */
export async function deleteDocument(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`
    delete from vex_documents
    where org_id = ${orgId}
      and id = ${id}`
}

/** Removes the proposals of a lane that another sender of the same file has put into effect. */
export async function deleteProposals(tx: Tx, { org_id, lane }: VexStream, uploadId: string): Promise<void> {
  await tx`
    delete from vex_documents
    where org_id = ${org_id}
      and upload_id = ${uploadId}
      and lane = ${lane}
      and pending`
}

/** Removes the statements of a document that is not stored. */
export async function deleteStatements(tx: Tx, orgId: string, documentId: string): Promise<void> {
  await tx`
    delete from vex_statements
    where org_id = ${orgId}
      and document_id = ${documentId}`
}

type NewDocument = VexStream &
  StoredDocument & { tracked: boolean; upload_id: string; sender_id: string; sender_name: string }

export async function insertDocument(tx: Tx, document: NewDocument, at: Date): Promise<void> {
  const { org_id, id, repository_no, format, publisher, series, category, git_ref, tracked } = document
  const { document_id, document_version, issued_at, reported_at, upload_id, statements } = document
  const { lane, pending, sender_id, sender_name } = document
  await tx`
    insert into vex_documents (
      org_id, id, repository_no, format, publisher, series, category, git_ref, tracked, document_id, document_version,
      issued_at, reported_at, upload_id, statements, lane, pending, stated_by_id, stated_by_name, created_at
    )
    values (
      ${org_id}, ${id}, ${repository_no}, ${format}, ${publisher}, ${series}, ${category}, ${git_ref}, ${tracked},
      ${document_id}, ${document_version}, ${issued_at}, ${reported_at}, ${upload_id}, ${statements}, ${lane},
      ${pending}, ${sender_id}, ${sender_name}, ${at}
    )`
}

const COLUMNS = [
  'org_id',
  'document_id',
  'position',
  'status',
  'vuln_ids',
  'package',
  'product',
  'justification',
  'comment',
  'stated_at',
]

/**
 * An open COPY of the statements of a document that is stored later in the same transaction, which
 * cannot run other statements meanwhile.
 */
export async function copyStatements(tx: Tx, orgId: string, documentId: string) {
  const copy = await openCopy(tx, 'vex_statements', COLUMNS)
  let position = 0
  const formatLine = ({ status, vuln_ids, ...texts }: VexStatement) => {
    const { package: purl, product, justification, comment, stated_at } = texts
    const ids = [...new Set(vuln_ids.map(removeDistribution))]
    const values = [orgId, documentId, position++, status, ids, purl, product, justification, comment, stated_at]
    return values.map(copyField).join('\t')
  }
  return {
    write: (statements: readonly VexStatement[]) => copy.writeLines(statements.map(formatLine)),
    end: () => copy.end(),
    abort: (reason: Error) => copy.abort(reason),
  }
}
