import type { ClosedFinding, Reopening, ReturnedFinding, ReturningFinding } from './reopened.store.ts'

type Key = (finding: ReturningFinding) => string

/**
 * Which closed findings a report reopens: those with the fingerprint of a new finding, at the same
 * line if possible, else in the same file in the order of lines. In another file only if there is
 * one on each side.
 */
export function matchReopened(findings: readonly (ReturnedFinding | ClosedFinding)[]): Reopening[] {
  const returned = findings.filter((finding) => finding.position !== null).sort(byLine)
  const closed = findings.filter((finding) => finding.position === null).sort(byLine)
  const reopened: Reopening[] = []
  const isPaired = new Set<ReturningFinding>()
  for (const [key, mayBeSeveral] of ROUNDS) {
    const waiting = groupBy(closed, key, isPaired)
    for (const [value, group] of groupBy(returned, key, isPaired)) {
      const others = waiting.get(value) ?? []
      if (!mayBeSeveral && (group.length > 1 || others.length > 1)) continue
      for (const [rank, closedOne] of others.slice(0, group.length).entries()) {
        const returnedOne = group[rank] as ReturnedFinding
        isPaired.add(closedOne).add(returnedOne)
        reopened.push([returnedOne, closedOne])
      }
    }
  }
  return reopened
}

const identity: Key = ({ stream_id, fingerprint }) => `${stream_id} ${fingerprint}`
const file: Key = (finding) => `${identity(finding)} ${finding.path ?? ''}`
const line: Key = (finding) => `${identity(finding)} ${finding.start_line ?? ''} ${finding.path ?? ''}`

const ROUNDS: [key: Key, mayBeSeveral: boolean][] = [
  [line, true],
  [file, true],
  [identity, false],
]

function byLine(a: ReturningFinding, b: ReturningFinding): number {
  return (a.start_line ?? 0) - (b.start_line ?? 0)
}

function groupBy<Finding extends ReturningFinding>(
  findings: readonly Finding[],
  key: Key,
  isPaired: ReadonlySet<ReturningFinding>,
): Map<string, Finding[]> {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings) {
    if (isPaired.has(finding)) continue
    const value = key(finding)
    const group = groups.get(value)
    if (group === undefined) groups.set(value, [finding])
    else group.push(finding)
  }
  return groups
}
