/** The first entry of an archive says what it is; the last one proves that it is complete. */
export const FIRST_ENTRY = 'shiplock-backup.json'
export const LAST_ENTRY = 'end.json'

/** Large contents are split: tar needs the size of an entry before its bytes. */
export const CHUNK_BYTES = 4 * 1024 * 1024
/** Of chunks whose compression made them longer. */
export const ENTRY_BYTES_MAX = CHUNK_BYTES + 64 * 1024

const CHUNK_NAME = /^(.+)\/(\d{6,})\.zst$/

/** The name of one chunk of a content: `cat NAME/*.zst | zstd -d` prints the content. */
export function formatChunkName(name: string, nth: number): string {
  return `${name}/${String(nth).padStart(6, '0')}.zst`
}

/** The content that an entry is a chunk of, and its position; null for an entry of its own. */
export function parseChunkName(entry: string): { name: string; nth: number } | null {
  const [, name, nth] = CHUNK_NAME.exec(entry) ?? []
  return name === undefined ? null : { name, nth: Number(nth) }
}

/** The text by which the name and the size of an entry are part of the checksum of an archive. */
export function describeEntry(name: string, bytes: number): string {
  return `${name}\n${bytes}\n`
}

/** The file is not an archive of ours, or is not as it was written. */
export class ArchiveError extends Error {}
