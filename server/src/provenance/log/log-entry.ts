/** A digest that is published in the log: a link of a chain, or the payload of a statement. */
export type LogEntry = { kind: 'change' | 'amendment' | 'statement'; sha256: Buffer }

/** The text of an entry in the log. It is ASCII. */
export function formatEntry({ kind, sha256 }: LogEntry): string {
  return `shiplock.dev/log-entry/v1\n${kind}\n${sha256.toString('hex')}\n`
}

/**
 * Entries as a bundle: each one follows its length in 16 bits (c2sp.org/tlog-tiles, "Log entries").
 */
export function encodeEntries(entries: readonly LogEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const text = Buffer.from(formatEntry(entry))
    const length = Buffer.alloc(2)
    length.writeUInt16BE(text.length)
    return [length, text]
  })
  return Buffer.concat(parts)
}
