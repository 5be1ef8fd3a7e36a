/** Groups of ids that are one vulnerability, joined by what sources say of pairs (union-find). */
export class AliasGroups {
  readonly #parents = new Map<string, string>()

  /** The two are one vulnerability. */
  join(one: string, other: string): void {
    const [a, b] = [this.canonicalId(one), this.canonicalId(other)]
    if (a === b) return
    if (compareCanonical(a, b) < 0) this.#parents.set(b, a)
    else this.#parents.set(a, b)
  }

  /** The id that stands for the group: its first by `compareCanonical`, whatever the order in which pairs came. */
  canonicalId(id: string): string {
    let root = id
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent
    this.#compress(id, root)
    return root
  }

  /** Every id of a group of two or more, with the id that stands for it. */
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
    let at = id
    while (at !== root) {
      const next = this.#parents.get(at) as string
      this.#parents.set(at, root)
      at = next
    }
  }
}

/** Which of two ids is the better name: a CVE id, else a GHSA id, else another; of equals the first by its bytes. */
export function compareCanonical(a: string, b: string): number {
  return rank(a) - rank(b) || Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function rank(id: string): number {
  if (id.startsWith('CVE-')) return 0
  return id.startsWith('GHSA-') ? 1 : 2
}
