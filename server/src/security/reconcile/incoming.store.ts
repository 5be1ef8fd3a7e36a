import { hash } from 'node:crypto'
import type { Tx } from '../../platform/db/sql.ts'
import { copyBytes, copyField, openCopy } from '../../platform/db/table-copy.ts'
import { formatReportedTool, type ParsedFinding } from '../formats/report/parsed-report.ts'
import {
  type AddedMember,
  type IncomingFinding,
  type ReportMembers,
  STATED_CONTENT,
  STATED_NAMES,
  type StatedFacts,
} from './report-members.ts'

declare const step: unique symbol

/**
 * Marks the result of a step of the reconciliation. The steps share temporary tables, so their
 * order matters: each step takes the result of the step before it, and only its own function makes
 * that result. A wrong order does not compile.
 *
 * `copyIncoming` → `matchReport` → `groupReport` → `upsertFindings` → `updateReportedStreams` →
 * `updateReportedIssues`
 */
export type After<Step extends string> = { readonly [step]: Step }

/**
 * The temporary table `incoming` with all findings of a report. The table exists until the
 * transaction ends.
 */
export type Incoming = After<'copy'> & { readonly tx: Tx; readonly members: ReportMembers }

/** An open COPY into `incoming`. While it is open, the transaction cannot run other statements. */
type IncomingCopy = {
  write(findings: readonly IncomingFinding[]): Promise<void>
  end(): Promise<Incoming>
  abort(reason: Error): Promise<void>
}

/**
 * Creates the temporary table `incoming` and opens a COPY into it. `own` are the columns that
 * reports do not have. A transaction may reconcile several times, one after the other.
 */
export async function copyIncoming(
  tx: Tx,
  members: ReportMembers,
  own: readonly (keyof StatedFacts)[] = [],
): Promise<IncomingCopy> {
  await tx`set local statement_timeout = 0`
  // An earlier file may be read meanwhile.
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx`set local work_mem = '64MB'`
  await tx`drop table if exists incoming, paired, grouped, grouped_issues, detected`
  await tx`
    create temporary table incoming (
      position integer, tool text, fingerprint bytea, fingerprint_method text, relocation bytea, similarity bytea,
      context bytea, content_hash bytea, kind text, type text, severity text, state text, dismiss_reason text,
      dismiss_comment text, title text, description text, native_url text, path text, start_line integer,
      end_line integer, start_column integer, end_column integer, package_name text, package_version text,
      fixed_version text, purl text, vuln_ids text[], cwes text[], rule_id text, secret_type text, resource_name text,
      scanner_score real, cvss_version text, cvss_score real, cvss_vector text,
      alert_id text collate "C", revision bigint, finding_id uuid, first_seen_at timestamptz, seen_at timestamptz,
      commit_sha text, dismissed_by_name text, dismissed_at timestamptz, dismissal_source text,
      earlier_rules text[], earlier_fingerprints text[]
    ) on commit drop`
  const copy = await openCopy(tx, 'incoming', [...INCOMING_COLUMNS, ...own])
  return {
    write: (findings) => copy.writeLines(findings.map((finding) => incomingLine(finding, members.add(finding)))),
    end: async () => {
      await copy.end()
      return { tx, members } as Incoming
    },
    abort: copy.abort,
  }
}

/** The columns of a stored finding that a later report can change. */
const CONTENT = [
  'kind',
  'type',
  'severity',
  'state',
  'dismiss_reason',
  'dismiss_comment',
  'title',
  'description',
  'native_url',
  'path',
  'start_line',
  'end_line',
  'start_column',
  'end_column',
  'package_name',
  'package_version',
  'fixed_version',
  'purl',
  'vuln_ids',
  'cwes',
  'rule_id',
  'secret_type',
  'resource_name',
  'scanner_score',
  'cvss_version',
  'cvss_score',
  'cvss_vector',
] as const satisfies (keyof ParsedFinding)[]

/** The columns of the temporary table `incoming`. */
const INCOMING_COLUMNS = [
  'position',
  'tool',
  'fingerprint',
  'fingerprint_method',
  'relocation',
  'similarity',
  'context',
  'earlier_rules',
  'earlier_fingerprints',
  'content_hash',
  ...CONTENT,
] as const

/** 16 bytes are enough to compare the findings of one stream. */
const SHORT_HASH_HEX = 32

/** The columns that a later report can change, as fields in PostgreSQL's COPY text format. */
function contentFields(finding: IncomingFinding) {
  let content = ''
  // Appending to a string is faster here than joining an array.
  for (const column of CONTENT) content += `\t${copyField(finding[column])}`
  const { stated } = finding
  if (stated !== undefined) for (const column of STATED_CONTENT) content += `\t${copyField(stated[column])}`
  const relocation = copyBytes(finding.relocation?.slice(0, SHORT_HASH_HEX) ?? null)
  return { content, relocation, similarity: copyBytes(finding.similarity) }
}

/** The `content_hash` with which a finding is stored, in hex. */
export function buildContentHash(finding: IncomingFinding): string {
  return hashFields(contentFields(finding))
}

function hashFields({ content, relocation, similarity }: ReturnType<typeof contentFields>): string {
  return hash('sha256', relocation + similarity + content, 'hex').slice(0, SHORT_HASH_HEX)
}

/** A finding as a line in PostgreSQL's COPY text format. */
function incomingLine(finding: IncomingFinding, { position, context }: AddedMember): string {
  const { stated } = finding
  const contents = contentFields(finding)
  const { content, relocation, similarity } = contents
  const fields = [
    position,
    copyField(formatReportedTool(finding.tool, finding.subject)),
    copyBytes(finding.fingerprint),
    finding.fingerprint_method,
    relocation,
    similarity,
    copyBytes(context),
    copyField(finding.earlier?.map(({ rule_id }) => rule_id) ?? null),
    copyField(finding.earlier?.map(({ fingerprint }) => fingerprint) ?? null),
    copyBytes(hashFields(contents)),
  ]
  const named = stated === undefined ? '' : STATED_NAMES.map((column) => `\t${copyField(stated[column])}`).join('')
  return fields.join('\t') + content + named
}
