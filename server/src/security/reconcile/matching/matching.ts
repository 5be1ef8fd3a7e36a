import type { IdentityMethod } from '../../vocabulary/finding.ts'
import type { Match, Pair, TrackedFinding } from './tracked-finding.ts'

/** Indexes of findings by path. */
export type Paths = ReadonlyMap<string, readonly number[]>
export type Side = 'stored' | 'reported'

/** Both sides of a comparison, and which findings are matched so far. */
export class Matching {
  readonly stored: readonly TrackedFinding[]
  readonly reported: readonly TrackedFinding[]
  readonly matches: Match[] = []
  readonly #partners: { stored: Int32Array; reported: Int32Array }

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

  /** Matches two findings unless one of them already is. */
  match([stored, reported]: Pair, method: IdentityMethod): boolean {
    if (!this.isFree('stored', stored) || !this.isFree('reported', reported)) return false
    this.#join(stored, reported)
    this.matches.push({ stored, reported, method })
    return true
  }

  /** The matched finding on the other side, or -1. */
  getPartner(side: Side, index: number): number {
    return this.#partners[side][index] ?? -1
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
