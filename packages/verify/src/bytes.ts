/** Bytes that WebCrypto takes. */
export type Bytes = Uint8Array<ArrayBuffer>

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text)
}

const NOT_BASE64 = /[^A-Za-z0-9+/=]/
const GROUP = 4

/** Standard base64 with padding, in the only form that encodes its bytes. Null for any other text. */
export function fromBase64(text: string): Bytes | null {
  // `atob` skips white space, and accepts a text without padding.
  if (text.length % GROUP !== 0 || NOT_BASE64.test(text)) return null
  try {
    const binary = atob(text)
    const lastGroup = binary.slice(binary.length - (binary.length % 3 || 3))
    // It also ignores the bits that padding leaves over.
    if (btoa(lastGroup) !== text.slice(-GROUP)) return null
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
    return bytes
  } catch {
    return null
  }
}

export function toHex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The digits must be hexadecimal, two for each byte. */
export function fromHex(digits: string): Bytes {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

export function concat(...parts: readonly Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

export function isEqual(one: Bytes, other: Bytes): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}
