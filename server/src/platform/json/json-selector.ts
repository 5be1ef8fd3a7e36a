import { JsonCapture, JsonKey } from './json-capture.ts'
import type { JsonSpan, SelectionNode } from './json-selection.ts'

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** A selected value. `keys` contains the array indexes and wildcard member names of its path. */
export type SelectedValue = {
  path: string
  keys: (string | number)[]
  value: unknown
  /** The value exceeds the size limit; `value` is undefined. */
  isOversize: boolean
}

type SelectorOptions = {
  valueBytesMax: number
  /** Parses a selected value's text. Throws JsonError with the position in the document. */
  parse: (text: string, offset: number) => unknown
  /** Skips the grammar check of everything that is not selected. */
  isRestSkimmed: boolean
}

/**
 * Walks the selection along with the scanner and returns the selected values. A value at depth d is
 * in d open containers. The selection tracks the outermost `#knownDepth` of them. Below, only the
 * end of a captured value matters, so the rest costs very little.
 */
export class JsonSelector {
  readonly #capture: JsonCapture
  readonly #parse: SelectorOptions['parse']
  readonly #isRestSkimmed: boolean
  readonly #key = new JsonKey()
  /**
   * By depth of the known containers: the node, and the current index or wildcard name (null for a
   * named member).
   */
  readonly #nodes: SelectionNode[] = []
  readonly #labels: (string | number | null)[] = []
  #knownDepth = 0
  /** The node of the next value. */
  #next: SelectionNode | null
  #captured: SelectionNode | null = null
  #capturedDepth = -1
  #capturedOffset = 0
  #spanOffset = 0
  #willOmit = false
  #omittedDepth = -1
  #chunkOffset = 0
  #selected: SelectedValue[] = []

  constructor(selection: SelectionNode, { valueBytesMax, parse, isRestSkimmed }: SelectorOptions) {
    this.#capture = new JsonCapture(valueBytesMax)
    this.#next = selection
    this.#parse = parse
    this.#isRestSkimmed = isRestSkimmed
  }

  /**
   * Whether the position is inside a selected value, below all nodes: everything there is parsed.
   */
  isSkimmed(depth: number): boolean {
    if (depth <= this.#knownDepth) return false
    return this.#isRestSkimmed || (this.#captured !== null && this.#omittedDepth < 0)
  }

  /**
   * Whether the position is inside an array of which only the positions of elements are selected.
   */
  isSpanned(depth: number): boolean {
    return depth === this.#knownDepth && (this.#next?.spanPath ?? null) !== null
  }

  beginSpan(at: number): void {
    this.#spanOffset = this.#chunkOffset + at
  }

  spanBytes(end: number): number {
    return this.#chunkOffset + end - this.#spanOffset
  }

  endSpan(end: number): void {
    const span: JsonSpan = { from: this.#spanOffset, to: this.#chunkOffset + end }
    this.#select(this.#next?.spanPath as string, span)
    this.#next = null
  }

  /** Returns the values selected since the last call. */
  take(): SelectedValue[] {
    const selected = this.#selected
    this.#selected = []
    return selected
  }

  beginValue(type: JsonType, chunk: Buffer, at: number, depth: number): void {
    if (this.#willOmit) this.#beginOmission(chunk, at, depth)
    const node = this.#next
    if (node === null) return
    this.#next = null
    if (node.typePath !== null) this.#select(node.typePath, type)
    if (node.valuePath !== null) this.#beginCapture(node, at, depth)
    if (type === 'object' || type === 'array') this.#enter(node, type, depth + 1)
  }

  nextElement(depth: number): void {
    if (depth !== this.#knownDepth) return
    this.#labels[depth] = (this.#labels[depth] as number) + 1
    this.#next = (this.#nodes[depth] as SelectionNode).element
  }

  beginKey(at: number): void {
    this.#key.begin(at)
  }

  endKey(chunk: Buffer, end: number, depth: number): void {
    const isKnown = depth === this.#knownDepth
    const name = this.#key.end(chunk, end, isKnown)
    if (!isKnown || name === null) return
    const node = this.#nodes[depth] as SelectionNode
    if (this.#captured !== null) {
      this.#willOmit = node.omitted.has(name)
      return
    }
    const named = node.members.get(name)
    this.#labels[depth] = named === undefined ? name : null
    this.#next = named ?? node.anyMember
  }

  closeContainer(depth: number): void {
    if (depth !== this.#knownDepth) return
    this.#knownDepth--
    this.#next = null
  }

  endValue(chunk: Buffer, end: number, depth: number): void {
    if (depth === this.#capturedDepth) this.#endCapture(chunk, end)
    else if (depth === this.#omittedDepth) this.#endOmission(end)
  }

  endOfChunk(chunk: Buffer): void {
    if (this.#captured !== null) this.#capture.endOfChunk(chunk)
    this.#key.endOfChunk(chunk)
    this.#chunkOffset += chunk.length
  }

  #enter(node: SelectionNode, type: 'object' | 'array', depth: number): void {
    if (this.#captured !== null) {
      if (type === 'array' || node.omitted.size === 0) return
    } else if (type === 'array' ? node.element === null : node.members.size === 0 && node.anyMember === null) {
      return
    }
    this.#knownDepth = depth
    this.#nodes[depth] = node
    this.#labels[depth] = type === 'array' ? 0 : null
    if (type === 'array') this.#next = node.element
  }

  #beginCapture(node: SelectionNode, at: number, depth: number): void {
    this.#captured = node
    this.#capturedDepth = depth
    this.#capturedOffset = this.#chunkOffset + at
    this.#capture.begin(at)
  }

  #endCapture(chunk: Buffer, end: number): void {
    const text = this.#capture.finish(chunk, end)
    const path = this.#captured?.valuePath as string
    this.#captured = null
    this.#capturedDepth = -1
    if (text === null) this.#select(path, undefined, true)
    else this.#select(path, this.#parse(text, this.#capturedOffset))
  }

  #beginOmission(chunk: Buffer, at: number, depth: number): void {
    this.#willOmit = false
    this.#omittedDepth = depth
    this.#capture.pause(chunk, at)
  }

  #endOmission(end: number): void {
    this.#omittedDepth = -1
    this.#capture.resume(end)
  }

  #select(path: string, value: unknown, isOversize = false): void {
    const keys = this.#labels.slice(1, this.#knownDepth + 1).filter((label) => label !== null)
    this.#selected.push({ path, keys, value, isOversize })
  }
}
