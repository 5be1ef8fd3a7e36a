import { formatReportedTool, type ParsedFinding } from '../formats/report/parsed-report.ts'
import { Memo } from '../formats/report/report-reading.ts'
import { computeBucket, isAboutPackage } from '../issues/grouping/bucket.ts'
import {
  type ContextHash,
  computeTold,
  type GroupingFacts,
  getRuleMessage,
  type Member,
} from '../issues/grouping/grouping-facts.ts'
import type { KnownRules } from '../issues/grouping/known-rules.ts'
import { isSecret } from '../issues/grouping/weakness-names.ts'
import type { FindingState } from '../vocabulary/finding.ts'

/** A finding's position in its report, and the keyed hash of its flagged text as hex. */
export type AddedMember = { position: number; context: string | null }

/**
 * The findings of a report in the form that grouping reads, kept in memory while the report is
 * parsed: a few hundred bytes each, for at most 100,000 findings.
 */
export class ReportMembers {
  readonly rules: KnownRules
  readonly #members: Member[] = []
  /** The positions of findings with a subject, by the name of their stream. */
  readonly #subjects = new Map<number, string>()
  readonly #isTracked: boolean
  readonly #contextHash: ContextHash
  readonly #buckets = new Memo<string>()
  /** Whether any rule had another id before. */
  hasEarlier = false

  constructor(isTracked: boolean, contextHash: ContextHash, rules: KnownRules) {
    this.rules = rules
    this.#isTracked = isTracked
    this.#contextHash = contextHash
  }

  add(finding: IncomingFinding): AddedMember {
    const position = this.#members.length
    const context = finding.context === null ? null : this.#contextHash(finding.context)
    const member = toMember(finding, { position, context }, this.#isTracked)
    member.bucket = this.#computeBucket(member)
    this.#members.push(member)
    if (finding.subject != null) this.#subjects.set(position, formatReportedTool(finding.tool, finding.subject))
    this.hasEarlier ||= finding.earlier !== undefined
    return { position, context }
  }

  get size(): number {
    return this.#members.length
  }

  /** The ids of the rules with findings in a stream. */
  collectRules(streamId: number): Set<string | null> {
    return new Set(this.#members.flatMap(({ stream_id, rule_id }) => (stream_id === streamId ? [rule_id] : [])))
  }

  /** Reports have many findings in the same file, so the bucket of a file is computed once. */
  #computeBucket(facts: GroupingFacts): string {
    const { kind, path } = facts
    const isInFile = path !== null && !isAboutPackage(kind)
    if (!isInFile) return computeBucket(facts, this.rules)
    const place = isSecret(facts, this.rules.of(facts)) ? '' : path
    return this.#buckets.get(place, () => computeBucket(facts, this.rules))
  }

  /** Assigns the findings to the streams of their tools, which are known after parsing. */
  assignStreams(streams: readonly { id: number; names: readonly string[] }[]): void {
    const ids = new Map(streams.flatMap(({ id, names }) => names.map((name) => [name, id])))
    for (const [position, member] of this.#members.entries())
      member.stream_id = ids.get(this.#subjects.get(position) ?? member.tool) ?? 0
  }

  /** The finding at a position of the report. `stored` is its row where it is stored already. */
  get(position: number, stored?: Pick<Member, 'id' | 'issue_id'>): Member {
    const member = this.#members[position] as Member
    return stored ? { ...member, id: stored.id, issue_id: stored.issue_id } : member
  }
}

/** One object with all members, because copying them from another one takes longer than this. */
function toMember(finding: IncomingFinding, { position, context }: AddedMember, isTracked: boolean): Member {
  return {
    kind: finding.kind,
    tool: finding.tool,
    stream_id: 0,
    is_alert: finding.stated?.alert_id != null,
    path: finding.path,
    start_line: finding.start_line,
    end_line: finding.end_line,
    start_column: finding.start_column,
    end_column: finding.end_column,
    package_name: finding.package_name,
    purl: finding.purl,
    vuln_ids: shared(finding.vuln_ids),
    cwes: shared(finding.cwes),
    rule_id: finding.rule_id,
    message: getRuleMessage(finding.tool, finding.description),
    secret_type: finding.secret_type,
    resource_name: finding.resource_name,
    fingerprint: dependsOnPosition(finding) ? finding.fingerprint : null,
    context,
    told: computeTold(finding.description, finding.vuln_ids),
    id: null,
    issue_id: null,
    bucket: '',
    position,
    grouping_code: null,
    grouping_detail: null,
    severity: finding.severity,
    is_open: finding.state === 'open',
    is_tracked: isTracked,
  }
}

/**
 * False for fingerprints that are the same on other lines of the file: those made of rule, path and
 * message, and those that Gitleaks makes of a secret's commit and author. `buildMemberColumns` has
 * the same rule for stored findings.
 */
function dependsOnPosition({ kind, fingerprint_method: method, start_line: line }: IncomingFinding): boolean {
  if (line === null) return true
  return method !== 'message' && !(kind === 'secret' && method === 'partialFingerprints')
}

const NONE: readonly string[] = []

/** Most findings have no ids. They share one empty list. */
function shared(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? NONE : ids
}

/**
 * What an alert of a code host or a match of the inventory states itself, and a report does not: a
 * stream tells it for all findings of a report. Times are RFC 3339.
 */
export type StatedFacts = {
  /** Null for a match. */
  alert_id: string | null
  revision: number | null
  /** The finding that goes on; null for a new one. */
  finding_id: string | null
  /** Null: now. */
  first_seen_at: string | null
  /** Null while the newest document of the stream contains it. */
  seen_at: string | null
  commit_sha: string | null
  dismissed_by_name: string | null
  dismissed_at: string | null
  dismissal_source: string | null
}

/** A finding to store: of a report, or one that states itself whether it is open. */
export type IncomingFinding = Omit<ParsedFinding, 'state'> & { state: FindingState; stated?: StatedFacts }

/** The columns that a later version can change, and those that name the alert and the finding. */
export const STATED_CONTENT = [
  'first_seen_at',
  'seen_at',
  'commit_sha',
  'dismissed_by_name',
  'dismissed_at',
  'dismissal_source',
] as const satisfies (keyof StatedFacts)[]
export const STATED_NAMES = ['alert_id', 'revision', 'finding_id'] as const satisfies (keyof StatedFacts)[]

/** The columns of the temporary table `incoming` that findings of reports do not have. */
export const STATED_COLUMNS = [...STATED_CONTENT, ...STATED_NAMES]
