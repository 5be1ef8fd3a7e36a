/** Sets of things numbered from 0 that grow together (union-find, with path halving). */
export class DisjointSets {
  readonly #parents: number[]

  constructor(size: number) {
    this.#parents = Array.from({ length: size }, (_, at) => at)
  }

  join(one: number, other: number): void {
    const [a, b] = [this.rootOf(one), this.rootOf(other)]
    if (a !== b) this.#parents[Math.max(a, b)] = Math.min(a, b)
  }

  /** The lowest number of its set. */
  rootOf(number: number): number {
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
