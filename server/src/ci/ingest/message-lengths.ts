import { shortened } from '../../platform/shortened.ts'

/**
 * The data of an attestation with its messages cut to the same length, so that it has at most
 * `bytesMax` bytes of JSON. Returns null if that is not possible.
 */
export function withShortMessages(data: object, bytesMax: number): object | null {
  const cutTo = (charsMax: number) => cutMessages(data, charsMax) as object
  let fits = 1 // an ellipsis
  if (sizeOf(cutTo(fits)) > bytesMax) return null
  let tooLong = bytesMax
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (sizeOf(cutTo(middle)) > bytesMax) tooLong = middle
    else fits = middle
  }
  return cutTo(fits)
}

export function sizeOf(data: object): number {
  return Buffer.byteLength(JSON.stringify(data))
}

/** Cuts every text named `message`, at any depth. */
function cutMessages(value: unknown, charsMax: number): unknown {
  if (Array.isArray(value)) return value.map((item) => cutMessages(item, charsMax))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    name === 'message' && typeof inner === 'string' ? shortened(inner, charsMax) : cutMessages(inner, charsMax),
  ])
  return Object.fromEntries(entries)
}
