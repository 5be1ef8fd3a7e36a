import { JsonError } from './json-error.ts'

/** Where one or more adjacent elements of an array stand: bytes `from` up to, not including, `to` of the UTF-8 text. */
export type JsonSpan = { from: number; to: number }

export type SpanPiece<T extends JsonSpan> = { span: T; bytes: Buffer; isLast: boolean }

/** Cuts the spans out of the text, piece by piece as it comes. They must be in its order. Throws JsonError when it ends before them. */
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
