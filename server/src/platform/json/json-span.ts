import { JsonError } from './json-error.ts'

/**
 * The position of one or more adjacent elements of an array: from byte `from` to byte `to`
 * (exclusive).
 */
export type JsonSpan = { from: number; to: number }

export type SpanPiece<T extends JsonSpan> = { span: T; bytes: Buffer; isLast: boolean }

/**
 * Yields the spans of a text, piece by piece. They must be in its order. Throws JsonError if it
 * ends early.
 */
export async function* cutSpans<T extends JsonSpan>(
  text: AsyncIterable<Buffer>,
  spans: readonly T[],
): AsyncGenerator<SpanPiece<T>> {
  let offset = 0
  let next = 0
  for await (const chunk of text) {
    const end = offset + chunk.length
    for (let span = spans[next]; span !== undefined && span.from < end; span = spans[next]) {
      const isLast = span.to <= end
      yield { span, bytes: chunk.subarray(Math.max(span.from - offset, 0), span.to - offset), isLast }
      if (!isLast) break
      next++
    }
    if (next === spans.length) return
    offset = end
  }
  if (next < spans.length) throw new JsonError('The text ends in the middle of the document', offset)
}
