import { compareTexts } from '../../platform/text.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'

/** Groups of ids that name one vulnerability, built from pairs of aliases (union-find). */
export class AliasGroups {
  readonly #parents = new Map<string, string>()

  join(one: string, other: string): void {
    const [a, b] = [this.canonicalId(one), this.canonicalId(other)]
    if (a === b) return
    if (compareCanonical(a, b) < 0) this.#parents.set(b, a)
    else this.#parents.set(a, b)
  }

  /**
   * The first id of the group by `compareCanonical`. It does not depend on the order of the pairs.
   */
  canonicalId(id: string): string {
    let root = id
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    this.#compress(id, root)
    return root
  }

  /** Every id that has an alias, with its canonical id. */
  *entries(): Generator<[id: string, canonicalId: string]> {
    const roots = new Set<string>()
    for (const id of [...this.#parents.keys()]) {
      const root = this.canonicalId(id)
      roots.add(root)
      yield [id, root]
    }
    for (const root of roots) yield [root, root]
  }

  #compress(id: string, root: string): void {
    let current = id
    while (current !== root) {
      const next = this.#parents.get(current) as string
      this.#parents.set(current, root)
      current = next
    }
  }
}

/** Sorts CVE ids first, then GHSA ids, then others; ids of one kind by their bytes. */
export function compareCanonical(a: string, b: string): number {
  return rank(a) - rank(b) || Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function rank(id: string): number {
  if (id.startsWith('CVE-')) return 0
  return id.startsWith('GHSA-') ? 1 : 2
}

/** A source asserts that two ids name one vulnerability. */
export type AliasAssertion = { source: string; id: string; alias: string }

/** `source` is `name` if one id is the other with the prefix of a distribution. */
export type AliasStep = { from: string; to: string; source: string }

/** Returns the shortest path of aliases from one id to another, or null if there is none. */
export function findAliasPath(assertions: readonly AliasAssertion[], from: string, to: string): AliasStep[] | null {
  const steps = stepsByStart(assertions, from)
  // Iterating a map also visits the entries that are added on the way: a breadth-first search.
  const lastSteps = new Map<string, AliasStep | null>([[from, null]])
  for (const id of lastSteps.keys()) {
    if (id === to) return pathTo(to, lastSteps)
    for (const step of steps.get(id) ?? []) if (!lastSteps.has(step.to)) lastSteps.set(step.to, step)
  }
  return null
}

function pathTo(end: string, lastSteps: ReadonlyMap<string, AliasStep | null>): AliasStep[] {
  const path: AliasStep[] = []
  for (let step = lastSteps.get(end); step; step = lastSteps.get(step.from)) path.unshift(step)
  return path
}

/**
 * Sorted, so that the choice between two shortest paths does not depend on the order of the
 * assertions.
 */
function stepsByStart(assertions: readonly AliasAssertion[], from: string): Map<string, AliasStep[]> {
  const ids = new Set([from, ...assertions.flatMap(({ id, alias }) => [id, alias])])
  const prefixed = [...ids]
    .filter((id) => removeDistribution(id) !== id)
    .map((id) => ({ source: 'name', id, alias: removeDistribution(id) }))
  const steps = [...assertions, ...prefixed].flatMap(({ source, id, alias }) => [
    { from: id, to: alias, source },
    { from: alias, to: id, source },
  ])
  return Map.groupBy(
    steps.sort((a, b) => compareTexts(a.to, b.to) || compareTexts(a.source, b.source)),
    (step) => step.from,
  )
}
