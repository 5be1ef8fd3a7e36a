import type { FindingKind, IdentityMethod } from '../../vocabulary/finding.ts'
import { type MessageMarks, parseMessage } from '../../vocabulary/message-marks.ts'
import { compareSketches, countRuns } from '../../vocabulary/text-sketch.ts'
import { collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'

/** Indexes of findings by path. */
export type Paths = ReadonlyMap<string, readonly number[]>
export type Side = 'stored' | 'reported'

/** Both sides of a comparison, and which findings are matched so far. */
export class Matching {
  readonly stored: readonly TrackedFinding[]
  readonly reported: readonly TrackedFinding[]
  readonly matches: Match[] = []
  readonly #partners: { stored: Int32Array; reported: Int32Array }
  #wordings: NewWordings | null = null

  constructor(stored: readonly TrackedFinding[], reported: readonly TrackedFinding[], anchors: readonly Pair[]) {
    this.stored = stored
    this.reported = reported
    this.#partners = {
      stored: new Int32Array(stored.length).fill(-1),
      reported: new Int32Array(reported.length).fill(-1),
    }
    for (const [from, to] of anchors) this.#join(from, to)
  }

  isFree(side: Side, index: number): boolean {
    return this.#partners[side][index] === -1
  }

  /** Matches two findings unless one of them already is, or they are never the same. */
  match([stored, reported]: Pair, method: IdentityMethod): boolean {
    if (!this.isFree('stored', stored) || !this.isFree('reported', reported)) return false
    if (this.#areTwo(this.stored[stored] as TrackedFinding, this.reported[reported] as TrackedFinding)) return false
    this.#join(stored, reported)
    this.matches.push({ stored, reported, method })
    return true
  }

  /** The matched finding on the other side, or -1. */
  getPartner(side: Side, index: number): number {
    return this.#partners[side][index] ?? -1
  }

  /** Another secret, or another text with another sentence, is another problem (decisions §7). */
  #areTwo(stored: TrackedFinding, reported: TrackedFinding): boolean {
    if (stored.context !== null && reported.context !== null && stored.kind === 'secret' && reported.kind === 'secret')
      return stored.context !== reported.context
    if (isSameContent(stored, reported)) return false
    if (stored.kind === 'secret' && reported.kind === 'secret') return true
    if (stored.message === null || reported.message === null) return false
    if (isOfPackage(stored) && areOfTwoVulnerabilities(stored.message, reported.message)) return true
    this.#wordings ??= new NewWordings(this.stored, this.reported)
    return this.#wordings.areTwo(stored, reported)
  }

  #join(stored: number, reported: number): void {
    this.#partners.stored[stored] = reported
    this.#partners.reported[reported] = stored
  }
}

/** Groups indexes by a key; those without one are left out. */
export function groupIndexes<Key>(
  indexes: readonly number[],
  keyOf: (index: number) => Key | null,
): Map<Key, number[]> {
  const groups = new Map<Key, number[]>()
  for (const index of indexes) {
    const key = keyOf(index)
    if (key === null) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [index])
    else group.push(index)
  }
  return groups
}

/** What the matching rules read of a finding, stored or reported. */
export type TrackedFinding = {
  path: string | null
  start_line: number | null
  end_line: number | null
  start_column: number | null
  end_column: number | null
  rule_id: string | null
  kind: FindingKind
  resource_name: string | null
  /** Hex prefixes. Equal fingerprints: the same rule and text, or the tool's own fingerprint. */
  fingerprint: string
  fingerprint_method: string
  /** The fingerprint without the path. */
  relocation: string | null
  /** The sketch of the flagged text; null for secrets and where the report has no text. */
  similarity: string | null
  /** The keyed hash of the flagged text; null where the report has no text. */
  context: string | null
  /** The beginning of the message; null if it is not known. */
  message: string | null
  /** The locations after the first one, as a list; null if there is only one. */
  places: string | null
  title: string
}

/** Indexes of the two findings. */
export type Match = { stored: number; reported: number; method: IdentityMethod }
export type Pair = readonly [stored: number, reported: number]

/** The findings of one rule can be versions of each other. A result without a rule has a title. */
export function getRule({ kind, rule_id, title }: TrackedFinding): string {
  return `${kind} ${rule_id ?? `?${title}`}`
}

/** What is flagged, whichever file and line it is in. */
export function getContent({ relocation, fingerprint }: TrackedFinding): string {
  return relocation ?? fingerprint
}

/** Whether the text or the fingerprint is the same. */
export function isSameContent(stored: TrackedFinding, reported: TrackedFinding): boolean {
  return (
    stored.fingerprint === reported.fingerprint ||
    getContent(stored) === getContent(reported) ||
    (stored.context !== null && stored.context === reported.context)
  )
}

function areOfTwoVulnerabilities(stored: string, reported: string): boolean {
  const [ids, others] = [collectVulnerabilityIds([stored]), collectVulnerabilityIds([reported])]
  return ids.length > 0 && others.length > 0 && !ids.some((id) => others.includes(id))
}

/** The column and length of the flagged code, which stay when lines are added before it. */
export function getShape({ start_line, end_line, start_column, end_column }: TrackedFinding): string {
  return `${start_column}:${(end_line ?? 0) - (start_line ?? 0)}:${end_column}`
}

/** The length of the flagged code, which stays when it is indented; null if it is unknown. */
export function getSize({ start_line, end_line, start_column, end_column }: TrackedFinding): string | null {
  if (start_column === null || end_column === null) return null
  return `${(end_line ?? 0) - (start_line ?? 0)}:${end_column - start_column}`
}

export function getPlacedContent(finding: TrackedFinding): string {
  return `${getContent(finding)} ${getShape(finding)}`
}

/** Packages and licenses are identified by their names, never by a place. */
export function isOfPackage({ kind }: TrackedFinding): boolean {
  return kind === 'dependency' || kind === 'license'
}

/** Whether its identity is a text or a fingerprint of the tool, not just a message. */
export function hasContent({ fingerprint_method }: TrackedFinding): boolean {
  return fingerprint_method !== 'message'
}

/** Texts with fewer different runs of characters are common: `import os`. */
const RICH = 20

/** Whether its text or the tool's own fingerprint identifies the finding wherever it is. */
export function isUnmistakable(finding: TrackedFinding): boolean {
  return hasContent(finding) && (finding.similarity === null || countRuns(finding.similarity) >= RICH)
}

/** Blocks of code with the same name are alike, whatever else changed. */
export function computeTextLikeness(stored: TrackedFinding, reported: TrackedFinding): number | null {
  const isNamed = stored.resource_name !== null && reported.resource_name !== null
  if (isNamed && stored.resource_name === reported.resource_name) return 1
  if (stored.similarity === null || reported.similarity === null) return null
  const alike = compareSketches(stored.similarity, reported.similarity)
  return alike.sameHead ? Math.max(alike.text, 0.8) : alike.text
}

/** As many findings of a rule get a new wording when the scanner is upgraded. */
const UPGRADED_MIN = 3

/** Numbers of findings by their sentences. */
type Counts = Map<string, number>

/**
 * The sentences of findings: their messages without names and numbers. Another sentence is another
 * problem, unless the scanner words the rule anew: three findings lose a sentence that no other has
 * any more, and three get one that none had. The names and numbers stay then.
 */
class NewWordings {
  readonly #findings: Record<Side, readonly TrackedFinding[]>
  readonly #rules: Record<Side, Map<string, TrackedFinding[]> | null> = { stored: null, reported: null }
  readonly #counts: Record<Side, Map<string, Counts>> = { stored: new Map(), reported: new Map() }
  readonly #marks = new Map<string, MessageMarks>()

  constructor(stored: readonly TrackedFinding[], reported: readonly TrackedFinding[]) {
    this.#findings = { stored, reported }
  }

  areTwo(stored: TrackedFinding, reported: TrackedFinding): boolean {
    const [said, says] = [this.#getMarks(stored), this.#getMarks(reported)]
    if (said.sentence === says.sentence) return false
    return said.literals !== says.literals || !this.#isReworded(getRule(stored), said.sentence, says.sentence)
  }

  #isReworded(rule: string, sentence: string, other: string): boolean {
    const [before, after] = [this.#count('stored', rule), this.#count('reported', rule)]
    const isGone = (before.get(sentence) ?? 0) >= UPGRADED_MIN && !after.has(sentence)
    return isGone && (after.get(other) ?? 0) >= UPGRADED_MIN && !before.has(other)
  }

  /** Only the rules of findings that are compared are counted. */
  #count(side: Side, rule: string): Counts {
    const known = this.#counts[side].get(rule)
    if (known !== undefined) return known
    this.#rules[side] ??= Map.groupBy(this.#findings[side], getRule)
    const counts: Counts = new Map()
    for (const finding of this.#rules[side]?.get(rule) ?? []) {
      const { sentence } = this.#getMarks(finding)
      counts.set(sentence, (counts.get(sentence) ?? 0) + 1)
    }
    this.#counts[side].set(rule, counts)
    return counts
  }

  #getMarks({ message, path }: TrackedFinding): MessageMarks {
    const key = `${path}\n${message}`
    const known = this.#marks.get(key)
    if (known !== undefined) return known
    const marks = parseMessage(message ?? '', path)
    this.#marks.set(key, marks)
    return marks
  }
}
