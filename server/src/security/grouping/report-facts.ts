import type { ParsedFinding } from '../parsers/parsed-report.ts'
import { bucketOf } from './bucket.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import type { Member } from './member.ts'

/** A report's findings as grouping sees them, kept while it is read: some hundred bytes each, of a bounded number. */
export class ReportFacts {
  readonly #facts: Member[] = []
  readonly #isTracked: boolean

  constructor(isTracked: boolean) {
    this.#isTracked = isTracked
  }

  /** `context` as hex. Answers the finding's position in the report. */
  add(finding: ParsedFinding, context: string | null): number {
    const position = this.#facts.length
    const facts = groupingFacts(finding, context)
    this.#facts.push({
      ...facts,
      id: null,
      issue_id: null,
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

  /** The finding at a position of the report, which is stored where `stored` says so. */
  at(position: number, stored?: Pick<Member, 'id' | 'issue_id'>): Member {
    const facts = this.#facts[position] as Member
    return stored ? { ...facts, id: stored.id, issue_id: stored.issue_id } : facts
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
    vuln_ids: shared(finding.vuln_ids),
    cwes: shared(finding.cwes),
    rule_id: finding.rule_id,
    secret_type: finding.secret_type,
    resource_name: finding.resource_name,
    fingerprint: finding.fingerprint_method === 'message' && finding.start_line !== null ? null : finding.fingerprint,
    context,
  }
}

const NONE: readonly string[] = []

/** Most findings name none, and one empty list is enough. */
function shared(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? NONE : ids
}
