import type { ParsedFinding } from '../parsers/parsed-report.ts'
import { bucketOf } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import type { Member } from './member.ts'

/** A report's findings as grouping sees them, kept while it is read: some hundred bytes each, of a bounded number. */
export class ReportFacts {
  readonly #facts: Omit<Member, 'id' | 'issue_id'>[] = []
  readonly #isTracked: boolean

  constructor(isTracked: boolean) {
    this.#isTracked = isTracked
  }

  /** `context` as hex. Answers the finding's position in the report. */
  add(finding: ParsedFinding, context: string | null): number {
    const facts = groupingFacts(finding, context)
    const position = this.#facts.length
    this.#facts.push({
      ...facts,
      bucket: bucketOf(facts),
      position,
      grouping_code: null,
      grouping_detail: null,
      severity: finding.severity,
      is_open: finding.state === 'open',
      is_tracked: this.#isTracked,
    })
    return position
  }

  /** The finding at a position of the report: a new one, or one that is stored under `id`. */
  at(position: number, { id, issue_id }: Pick<Member, 'id' | 'issue_id'>): Member {
    return { ...(this.#facts[position] as Member), id, issue_id }
  }
}

function groupingFacts(finding: ParsedFinding, context: string | null): GroupingFacts {
  return {
    kind: finding.kind,
    path: finding.path,
    start_line: finding.start_line,
    end_line: finding.end_line,
    package_name: finding.package_name,
    purl: finding.purl,
    vuln_ids: finding.vuln_ids,
    cwes: finding.cwes,
    rule_id: finding.rule_id,
    secret_type: finding.secret_type,
    resource_name: finding.resource_name,
    fingerprint: finding.fingerprint_method === 'message' && finding.start_line !== null ? null : finding.fingerprint,
    context,
  }
}
