import type { ClosedFinding, Reopening, ReturnedFinding, ReturningFinding } from './reopened.store.ts'

/**
 * Which closed findings a report reopens: those with the fingerprint of a new finding, at the same
 * line if possible, else in the same file in the order of lines. In another file only if there is
 * one on each side.
 */
export function matchReopened(findings: readonly (ReturnedFinding | ClosedFinding)[]): Reopening[] {
  const returned = findings.filter((finding) => finding.position !== null).sort(byLine)
  const closed = findings.filter((finding) => finding.position === null).sort(byLine)
  const atLine = pairBy(line, returned, closed)
  const inFile = pairBy(file, without(returned, atLine), without(closed, atLine))
  const inFiles = [...atLine, ...inFile]
  const elsewhere = pairBy(identity, without(returned, inFiles), without(closed, inFiles), 1)
  return [...inFiles, ...elsewhere]
}

type Key = (finding: ReturningFinding) => string
const identity: Key = ({ stream_id, fingerprint }) => `${stream_id} ${fingerprint}`
const file: Key = (finding) => `${identity(finding)} ${finding.path ?? ''}`
const line: Key = (finding) => `${identity(finding)} ${finding.start_line ?? ''} ${finding.path ?? ''}`

function byLine(a: ReturningFinding, b: ReturningFinding): number {
  return (a.start_line ?? 0) - (b.start_line ?? 0)
}

/** Pairs findings with equal keys in their order, unless a side has more than `max` of them. */
function pairBy(
  key: Key,
  returned: readonly ReturnedFinding[],
  closed: readonly ClosedFinding[],
  max = Number.POSITIVE_INFINITY,
): Reopening[] {
  const waiting = Map.groupBy(closed, key)
  return [...Map.groupBy(returned, key)].flatMap(([value, group]) => {
    const others = waiting.get(value) ?? []
    if (group.length > max || others.length > max) return []
    return others.slice(0, group.length).map((other, rank) => [group[rank] as ReturnedFinding, other] as const)
  })
}

function without<Finding extends ReturningFinding>(findings: readonly Finding[], pairs: readonly Reopening[]) {
  const paired = new Set<ReturningFinding>(pairs.flat())
  return findings.filter((finding) => !paired.has(finding))
}
