import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml'
import { createFileError, PolicyFileError, type PolicyMistake } from './policy-mistake.ts'

export const POLICY_FILE_BYTES_MAX = 64 * 1024

type Position = Pick<PolicyMistake, 'line' | 'column'>

/** The library reports an overflow of the stack as a mistake in the file. */
const STACK_OVERFLOW = /call stack|stack overflow/i

/** A YAML document as a plain value, with the position of each of its parts. */
export class PolicyDocument {
  readonly value: unknown
  readonly #document: Document
  readonly #lines: LineCounter

  /** Throws `PolicyFileError` unless the text is one YAML 1.2 map without aliases. */
  constructor(text: string) {
    if (Buffer.byteLength(text) > POLICY_FILE_BYTES_MAX) {
      throw createFileError(`a policy file can have at most ${POLICY_FILE_BYTES_MAX} bytes`)
    }
    this.#lines = new LineCounter()
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: true })
    const mistakes = this.#syntaxMistakes()
    if (mistakes.length > 0) throw new PolicyFileError(mistakes)
    if (!isMap(this.#document.contents)) {
      throw createFileError('a policy file must be a map with the fields name, mode, bindings and rules')
    }
    this.value = this.#document.toJS()
  }

  /** Position of the value at a path, or of the innermost part of the path that exists. */
  valueAt(path: readonly string[]): Position {
    const node = path.length === 0 ? this.#document.contents : this.#document.getIn(path, true)
    return isNode(node) ? this.#startOf(node) : this.valueAt(path.slice(0, -1))
  }

  /** Position of the last key in a path. */
  keyAt(path: readonly string[]): Position {
    const parent = path.length === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, -1), true)
    const items = isMap(parent) ? parent.items : []
    const key = items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))?.key
    return isNode(key) ? this.#startOf(key) : this.valueAt(path.slice(0, -1))
  }

  #syntaxMistakes(): PolicyMistake[] {
    const { errors, warnings } = this.#document
    const overflow = errors.find(({ message }) => STACK_OVERFLOW.test(message))
    if (overflow) return [{ ...this.#position(overflow.pos[0]), path: '', message: 'the file is nested too deeply' }]
    return [
      ...[...errors, ...warnings].map(({ pos, message }) => ({ ...this.#position(pos[0]), path: '', message })),
      ...this.#unsupportedNodes(),
    ]
  }

  /** Aliases are refused, because a few lines of them can expand to millions of values. */
  #unsupportedNodes(): PolicyMistake[] {
    const mistakes: PolicyMistake[] = []
    const refuse = (node: object, message: string) => mistakes.push({ ...this.#startOf(node), path: '', message })
    visit(this.#document, {
      Alias: (_key, node) => {
        refuse(node, 'aliases are not allowed; repeat the value')
      },
      Pair: (_key, { key }) => {
        if (isMap(key) || isSeq(key)) refuse(key, 'a key must be text')
      },
    })
    return mistakes
  }

  #startOf(node: object): Position {
    return this.#position((node as ParsedNode).range?.[0] ?? 0)
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}
