import { IntelError } from '../intel-error.ts'

const LINE_MAX = 10_000

/** The lines of a UTF-8 text, without their ends and a byte order mark, in batches: those that ended in one piece of it. */
export async function* textLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of source) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LINE_MAX) throw new IntelError(`A line is longer than ${LINE_MAX} characters.`)
    if (lines.length > 0) yield lines.map(withoutReturn)
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
