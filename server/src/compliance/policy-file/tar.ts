/** POSIX.1-1988 §10.1.1: blocks of 512 bytes; a header, the file, zeros up to the next block. */
const BLOCK_BYTES = 512
const NAME = [0, 100] as const
const SIZE = [124, 136] as const
const TYPE_AT = 156
const REGULAR = ['0', '\0']

/** The regular files of a tar archive by name, without a leading slash. Broken headers end it. */
export function readTar(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = 0; at + BLOCK_BYTES <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK_BYTES)
    const name = textOf(header, NAME)
    const sizeBytes = Number.parseInt(textOf(header, SIZE).trim() || '0', 8)
    const start = at + BLOCK_BYTES
    if (name === '' || !(sizeBytes >= 0) || start + sizeBytes > archive.length) break
    if (REGULAR.includes(String.fromCharCode(header[TYPE_AT] ?? 0))) {
      files.set(name.replace(/^\.?\//, ''), archive.subarray(start, start + sizeBytes))
    }
    at = start + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES
  }
  return files
}

function textOf(header: Buffer, [start, end]: readonly [number, number]): string {
  const [text = ''] = header.toString('latin1', start, end).split('\0', 1)
  return text
}
