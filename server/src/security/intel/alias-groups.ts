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
