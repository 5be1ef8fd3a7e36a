import { openCopy } from '../../platform/db/copy-rows.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ParsedFinding } from '../formats/report/parsed-report.ts'
import { INCOMING_COLUMNS, incomingLine } from './incoming-finding.ts'
import type { ReportMembers } from './report-members.ts'
import type { After } from './step.ts'

/**
 * The temporary table `incoming` with all findings of a report. The table exists until the
 * transaction ends.
 */
export type Incoming = After<'copy'> & { readonly tx: Tx; readonly members: ReportMembers }

/** An open COPY into `incoming`. While it is open, the transaction cannot run other statements. */
export type IncomingCopy = {
  write(findings: readonly ParsedFinding[]): Promise<void>
  end(): Promise<Incoming>
  abort(reason: Error): Promise<void>
}

/** Creates the temporary table `incoming` and opens a COPY into it. */
export async function openIncoming(tx: Tx, members: ReportMembers): Promise<IncomingCopy> {
  await tx`set local statement_timeout = 0`
  await tx`set local work_mem = '64MB'`
  await tx`
    create temporary table incoming (
      position integer, tool text, fingerprint bytea, fingerprint_method text, relocation bytea,
      context bytea, content_hash bytea, kind text, type text, severity text, state text, dismiss_reason text, dismiss_comment text,
      title text, description text, native_url text, path text, start_line integer, end_line integer,
      package_name text, package_version text, fixed_version text, purl text, vuln_ids text[], cwes text[],
      rule_id text, secret_type text, resource_name text, scanner_score real, cvss_version text, cvss_score real,
      cvss_vector text
    ) on commit drop`
  const copy = await openCopy(tx, 'incoming', INCOMING_COLUMNS)
  return {
    write: (findings) => copy.writeLines(findings.map((finding) => incomingLine(finding, members.add(finding)))),
    end: async () => {
      await copy.end()
      return { tx, members } as Incoming
    },
    abort: copy.abort,
  }
}
