/**
 * The size of one piece. A large buffer of the caller is split, so that it does not block the event
 * loop.
 */
const PIECE_BYTES = 64 * 1024

type Encoding = { name: 'utf-8' | 'utf-16le' | 'utf-16be'; markBytes: number }

/**
 * Converts the bytes of a text file to UTF-8 without a byte order mark, piece by piece. UTF-16 is
 * recognized by its byte order mark (RFC 2781 §3.2). Everything else is passed through as UTF-8.
 */
export async function* decodeText(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  let decode: ((piece: Buffer) => Buffer) | null = null
  for await (const chunk of source) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (decode === null) {
      head = head.length === 0 ? bytes : Buffer.concat([head, bytes])
      if (head.length < 3) continue
      const encoding = getEncoding(head)
      decode = decoder(encoding)
      bytes = head.subarray(encoding.markBytes)
    }
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield decode(bytes.subarray(at, at + PIECE_BYTES))
  }
  // A file of one or two bytes was too short for the decision above.
  if (decode === null) yield head.subarray(getEncoding(head).markBytes)
}

function getEncoding(head: Buffer): Encoding {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { name: 'utf-8', markBytes: 3 }
  if (head[0] === 0xff && head[1] === 0xfe) return { name: 'utf-16le', markBytes: 2 }
  if (head[0] === 0xfe && head[1] === 0xff) return { name: 'utf-16be', markBytes: 2 }
  return { name: 'utf-8', markBytes: 0 }
}

function decoder({ name }: Encoding): (piece: Buffer) => Buffer {
  if (name === 'utf-8') return (piece) => piece
  const utf16 = new TextDecoder(name)
  return (piece) => Buffer.from(utf16.decode(piece, { stream: true }))
}
