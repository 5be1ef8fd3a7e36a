import type { Db, Tx } from '../../platform/db/sql.ts'
import { copyField, openCopy } from '../../platform/db/table-copy.ts'
import type { VexFormat } from '../formats/catalogue.ts'
import type { VexStatement } from '../formats/report/vex-statement.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'

/** What identifies the documents of which only the newest counts. */
export type VexStream = {
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
  const { org_id, repository_no, format, publisher, series, category, git_ref } = stream
  const [row] = await db<StoredDocument[]>`
    select id, document_id, document_version, issued_at, reported_at, statements
    from vex_documents
    where org_id = ${org_id}
      and repository_no = ${repository_no}
      and format = ${format}
      and publisher = ${publisher}
      and series = ${series}
      and coalesce(category, '') = coalesce(${category}, '')
      and branch_name(git_ref) is not distinct from branch_name(${git_ref})`
  return row ?? null
}

/** Removes a document and its statements. */
export async function deleteDocument(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`
    delete from vex_documents
    where org_id = ${orgId}
      and id = ${id}`
}

/** Removes the statements of a document that is not stored. */
export async function deleteStatements(tx: Tx, orgId: string, documentId: string): Promise<void> {
  await tx`
    delete from vex_statements
    where org_id = ${orgId}
      and document_id = ${documentId}`
}

type NewDocument = VexStream & StoredDocument & { tracked: boolean; upload_id: string }

export async function insertDocument(tx: Tx, document: NewDocument, at: Date): Promise<void> {
  const { org_id, id, repository_no, format, publisher, series, category, git_ref, tracked } = document
  const { document_id, document_version, issued_at, reported_at, upload_id, statements } = document
  await tx`
    insert into vex_documents (
      org_id, id, repository_no, format, publisher, series, category, git_ref, tracked, document_id, document_version,
      issued_at, reported_at, upload_id, statements, created_at
    )
    values (
      ${org_id}, ${id}, ${repository_no}, ${format}, ${publisher}, ${series}, ${category}, ${git_ref}, ${tracked},
      ${document_id}, ${document_version}, ${issued_at}, ${reported_at}, ${upload_id}, ${statements}, ${at}
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
