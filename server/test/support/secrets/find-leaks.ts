export type Secret = { kind: string; value: string }
export type Leak = { kind: string; line: string }

/** Every secret has at least as many characters. */
const INDEXED_CHARS = 12
const LINE_CHARS_MAX = 300

/**
 * The lines of a text that contain a secret, which is masked in the result. The time depends on the
 * length of the text, not on the number of secrets.
 */
export function findLeaks(text: string, secrets: readonly Secret[]): Leak[] {
  const byStart = Map.groupBy(secrets.flatMap(writings), ({ value }) => value.slice(0, INDEXED_CHARS))
  return text.split('\n').flatMap((line) => {
    for (let at = 0; at + INDEXED_CHARS <= line.length; at += 1) {
      const found = byStart.get(line.slice(at, at + INDEXED_CHARS))?.find(({ value }) => line.startsWith(value, at))
      if (found) return [{ kind: found.kind, line: line.replaceAll(found.value, '***').slice(0, LINE_CHARS_MAX) }]
    }
    return []
  })
}

/** A secret as it is, in an address, and in a JSON text. */
function writings({ kind, value }: Secret): Secret[] {
  const written = new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])
  return [...written].map((text) => ({ kind, value: text }))
}
