import type { SbomComponent } from './sbom.ts'

const EDGES_MAX = 1_000_000
const IDS_MAX = 300_000
const ID_CHARS_MAX = 1000
const UNKNOWN = -1

/**
 * The dependencies that a document states between the ids of its elements, and the shortest path to
 * each component. Memory is bounded: what exceeds the bounds has no path.
 */
export class ComponentGraph {
  readonly #numbers = new Map<string, number>()
  readonly #edges: [from: number, to: number][] = []
  /** The position of the component of each number. */
  readonly #positions = new Map<number, number>()
  readonly #passed = new Set<number>()
  readonly #roots = new Set<number>()
  #isCut = false

  addRoot(id: string): void {
    const number = this.#assign(id)
    if (number !== UNKNOWN) this.#roots.add(number)
  }

  /** The first of several components with one id counts. */
  addComponent(id: string, position: number, isPassed: boolean): void {
    const number = this.#assign(id)
    if (number === UNKNOWN || this.#positions.has(number)) return
    this.#positions.set(number, position)
    if (isPassed) this.#passed.add(number)
  }

  /** An element that is no component, through which paths lead. */
  addPassed(id: string): void {
    const number = this.#assign(id)
    if (number !== UNKNOWN) this.#passed.add(number)
  }

  /** States that one element depends on another. */
  addEdge(from: string, to: string): void {
    const [one, other] = [this.#assign(from), this.#assign(to)]
    if (one === UNKNOWN || other === UNKNOWN || this.#edges.length >= EDGES_MAX) this.#isCut = true
    else this.#edges.push([one, other])
  }

  /**
   * Sets the parent of each component that can be reached from the root. Of equally short paths the
   * first by the names on it counts. A path of a graph that was cut off might not be the shortest.
   */
  setParents(components: readonly SbomComponent[]): void {
    if (this.#isCut) return
    const targets = Map.groupBy(this.#edges, ([from]) => from)
    const seen = new Set(this.#roots)
    const nameOf = (position: number) => {
      const { component } = components[position] as SbomComponent
      return component.purl ?? component.name
    }
    let level = [{ numbers: [...this.#roots], parent: -1 }]
    while (level.length > 0) {
      const next: typeof level = []
      for (const { numbers, parent } of level) {
        const reached = this.#reach(numbers, targets, seen)
        const named = reached.map(({ number, position }) => ({ number, position, name: nameOf(position) }))
        named.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
        for (const { number, position } of named) {
          ;(components[position] as SbomComponent).parent = parent
          if (!this.#passed.has(number)) next.push({ numbers: [number], parent: position })
        }
      }
      level = next
    }
  }

  /** The components one step away. What is passed through is as far as what leads to it. */
  #reach(numbers: readonly number[], targets: ReadonlyMap<number, [number, number][]>, seen: Set<number>) {
    const reached: { number: number; position: number }[] = []
    const open = [...numbers]
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
      for (const [, number] of targets.get(from) ?? []) {
        if (seen.has(number)) continue
        seen.add(number)
        if (this.#passed.has(number)) open.push(number)
        const position = this.#positions.get(number)
        if (position !== undefined) reached.push({ number, position })
      }
    }
    return reached
  }

  #assign(id: string): number {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    if (id.length > ID_CHARS_MAX || this.#numbers.size >= IDS_MAX) return UNKNOWN
    this.#numbers.set(id, this.#numbers.size)
    return this.#numbers.size - 1
  }
}
