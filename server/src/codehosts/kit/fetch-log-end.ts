import { fetchOutside } from '../../platform/outbound/guarded-fetch.ts'
import { HostUnavailable } from '../code-host.ts'

const TIME_LIMIT_MS = 30_000

/**
 * The end of a log in the storage of a host, which is read without our token. The caller has
 * checked the address. Null if the storage does not have it any more.
 */
export async function fetchLogEnd(address: URL, bytesMax: number): Promise<string | null> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS)
  const response = await fetchOutside(address.href, { redirect: 'manual', signal }).catch(failed)
  if (response.ok && response.body !== null) return readEnd(response.body, bytesMax)
  await response.body?.cancel()
  if (response.status >= 500) throw new HostUnavailable(`The storage of logs answered ${response.status}.`)
  return null
}

/** The addresses of storage contain a signature, so they are not part of the message. */
function failed(error: unknown): never {
  throw new HostUnavailable(`The storage of logs cannot be read: ${(error as Error).name}.`)
}

/** The end of a stream, at most `bytesMax` of it. */
export async function readEnd(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<string> {
  const end = new EndOfStream(bytesMax)
  try {
    for await (const chunk of body) end.add(chunk)
  } catch (error) {
    failed(error)
  }
  return end.text()
}

/** Keeps the end of a stream in memory that is bounded by `bytesMax` and one chunk. */
class EndOfStream {
  readonly #bytesMax: number
  #chunks: Uint8Array[] = []
  #size = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size - (this.#chunks[0]?.length ?? 0) >= this.#bytesMax) {
      this.#size -= this.#chunks.shift()?.length ?? 0
    }
  }

  /** The first character may be cut: its remaining bytes (10xxxxxx in UTF-8) are left out. */
  text(): string {
    const kept = Buffer.concat(this.#chunks).subarray(-this.#bytesMax)
    let start = 0
    if (kept.length === this.#bytesMax) while (start < 3 && ((kept[start] ?? 0) & 0xc0) === 0x80) start += 1
    return kept.subarray(start).toString().replaceAll('\0', '')
  }
}
