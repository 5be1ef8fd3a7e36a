import { Memo } from '../formats/report/memo.ts'
import type { ParsedFinding } from '../formats/report/parsed-report.ts'
import { bucketOf, isAboutPackage } from '../issues/grouping/bucket.ts'
import type { GroupingFacts } from '../issues/grouping/grouping-facts.ts'
import type { Member } from '../issues/grouping/member.ts'

/** A report's findings as grouping sees them, kept while it is read: some hundred bytes each, of a bounded number. */
export class ReportFacts {
  readonly #facts: Member[] = []
  readonly #isTracked: boolean
  readonly #buckets = new Memo<string>()

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
      bucket: this.#bucketOf(facts),
      position,
      grouping_code: null,
      grouping_detail: null,
      severity: finding.severity,
      is_open: finding.state === 'open',
      is_tracked: this.#isTracked,
    })
    return position
  }

  /** Many findings are in one file. */
  #bucketOf(facts: GroupingFacts): string {
    const { kind, path } = facts
    const isInFile = path !== null && !isAboutPackage(kind) && kind !== 'secret'
    return isInFile ? this.#buckets.get(`${kind} ${path}`, () => bucketOf(facts)) : bucketOf(facts)
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
    fingerprint: tellsPlaces(finding) ? finding.fingerprint : null,
    context,
  }
}

/**
 * What is made of rule, file and message alone is equal at other lines too; so is what Gitleaks writes of a secret: who
 * committed it, and when. The same as `memberColumns`.
 */
function tellsPlaces({ kind, fingerprint_method: method, start_line: line }: ParsedFinding): boolean {
  if (line === null) return true
  return method !== 'message' && !(kind === 'secret' && method === 'partialFingerprints')
}

const NONE: readonly string[] = []

/** Most findings name none, and one empty list is enough. */
function shared(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? NONE : ids
}
