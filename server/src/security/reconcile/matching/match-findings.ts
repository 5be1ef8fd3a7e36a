import type { FindingKind, IdentityMethod } from '../../vocabulary/finding.ts'

/** What the matching rules read of a finding, stored or reported. */
export type TrackedFinding = {
  path: string | null
  start_line: number | null
  end_line: number | null
  start_column: number | null
  rule_id: string | null
  kind: FindingKind
  resource_name: string | null
  /** Hex prefixes. Equal fingerprints: the same rule and text, or the tool's own fingerprint. */
  fingerprint: string
  fingerprint_method: string
  relocation: string | null
  similarity: string | null
  title: string
}

/** Indexes of the two findings. */
export type Match = { stored: number; reported: number; method: IdentityMethod }

type Key = (finding: TrackedFinding) => string | null

/** Pairs the findings that the anchors leave. One stream at a time. */
export function matchFindings(
  stored: readonly TrackedFinding[],
  reported: readonly TrackedFinding[],
  anchors: readonly (readonly [number, number])[],
): Match[] {
  const matches: Match[] = []
  const isPaired = [new Set(anchors.map(([from]) => from)), new Set(anchors.map(([, to]) => to))] as const
  const pair = (key: Key, canDiffer: boolean, method: (from: TrackedFinding, to: TrackedFinding) => IdentityMethod) => {
    const arrived = groups(reported, isPaired[1], key)
    for (const [value, departed] of groups(stored, isPaired[0], key)) {
      const others = arrived.get(value) ?? []
      if (!canDiffer && others.length !== departed.length) continue
      for (const [rank, from] of departed.slice(0, others.length).entries()) {
        const to = others[rank] as number
        const [before, after] = [stored[from] as TrackedFinding, reported[to] as TrackedFinding]
        if (!canDiffer && others.length > 1 && before.path !== after.path) continue
        isPaired[0].add(from)
        isPaired[1].add(to)
        matches.push({ stored: from, reported: to, method: method(before, after) })
      }
    }
  }
  pair(
    ({ path, start_line, fingerprint }) => JSON.stringify([path, start_line, fingerprint]),
    true,
    () => 'same_place',
  )
  pair(
    ({ path, fingerprint }) => JSON.stringify([path, fingerprint]),
    true,
    () => 'same_place',
  )
  pair(
    ({ fingerprint }) => fingerprint,
    false,
    () => 'moved_to_file',
  )
  pair(
    ({ relocation }) => relocation,
    false,
    (from, to) => (from.path === to.path ? 'moved_in_file' : 'moved_to_file'),
  )
  pair(placeOf, false, () => 'edited_in_place')
  return matches
}

function placeOf({ fingerprint_method: method, rule_id, path, start_line, end_line, resource_name }: TrackedFinding) {
  if (method !== 'message' || rule_id === null) return null
  return JSON.stringify([rule_id, path, start_line, end_line, resource_name])
}

function groups(findings: readonly TrackedFinding[], paired: ReadonlySet<number>, key: Key): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const [index, finding] of findings.entries()) {
    const value = paired.has(index) ? null : key(finding)
    if (value === null) continue
    const group = found.get(value)
    if (group === undefined) found.set(value, [index])
    else group.push(index)
  }
  for (const group of found.values()) group.sort((a, b) => lineOf(findings, a) - lineOf(findings, b))
  return found
}

function lineOf(findings: readonly TrackedFinding[], index: number): number {
  return findings[index]?.start_line ?? 0
}
