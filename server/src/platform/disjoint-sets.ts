/** Union-find with path halving, over items numbered from 0. */
export class DisjointSets {
  readonly #parents: number[]

  constructor(size: number) {
    this.#parents = Array.from({ length: size }, (_, at) => at)
  }

  join(one: number, other: number): void {
    const [a, b] = [this.getRoot(one), this.getRoot(other)]
    if (a !== b) this.#parents[Math.max(a, b)] = Math.min(a, b)
  }

  /** Returns the lowest number in the set of an item. */
  getRoot(number: number): number {
    let at = number
    for (let parent = this.#parent(at); parent !== at; parent = this.#parent(at)) {
      this.#parents[at] = this.#parent(parent)
      at = parent
    }
    return at
  }

  #parent(number: number): number {
    return this.#parents[number] ?? number
  }
}
