import type { Hash } from './source.ts'

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8
const ROUNDS = 64

/**
 * The first 32 bits of the fractional parts of the square and cube roots of the first primes
 * (FIPS 180-4, 4.2.2 and 5.3.3).
 */
const PRIMES = firstPrimes(ROUNDS)
const INITIAL = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))
const K = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)))

/**
 * SHA-256 (FIPS 180-4), piece by piece and with constant memory. Used where the platform has no
 * such function: `crypto.subtle.digest` takes only complete content, and only on secure pages.
 */
export class Sha256 implements Hash {
  readonly #state = Int32Array.from(INITIAL)
  readonly #schedule = new Int32Array(ROUNDS)
  /** The beginning of a block that is not complete yet. */
  readonly #rest = new Uint8Array(BLOCK_BYTES)
  #restBytes = 0
  #bytes = 0

  update(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength
    let at = 0
    if (this.#restBytes > 0) {
      at = Math.min(BLOCK_BYTES - this.#restBytes, bytes.byteLength)
      this.#keep(bytes.subarray(0, at))
      if (this.#restBytes < BLOCK_BYTES) return
      this.#compress(this.#rest, 0)
      this.#restBytes = 0
    }
    for (; at + BLOCK_BYTES <= bytes.byteLength; at += BLOCK_BYTES) this.#compress(bytes, at)
    this.#keep(bytes.subarray(at))
  }

  /** Ends the message with a one bit, zeros and its length in bits (5.1.1). Call it once. */
  hex(): string {
    const bits = BigInt(this.#bytes) * 8n
    const zeros = (2 * BLOCK_BYTES - 1 - LENGTH_BYTES - this.#restBytes) % BLOCK_BYTES
    const ending = new Uint8Array(1 + zeros + LENGTH_BYTES)
    ending[0] = 0x80
    new DataView(ending.buffer).setBigUint64(1 + zeros, bits)
    this.update(ending)
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }

  #keep(bytes: Uint8Array): void {
    this.#rest.set(bytes, this.#restBytes)
    this.#restBytes += bytes.byteLength
  }

  #compress(bytes: Uint8Array, at: number): void {
    expand(this.#schedule, bytes, at)
    mix(this.#state, this.#schedule)
  }
}

/** The message schedule of the block at `at` (6.2.2, step 1). */
function expand(w: Int32Array, bytes: Uint8Array, at: number): void {
  for (let t = 0; t < 16; t++) {
    const i = at + 4 * t
    w[t] = (byte(bytes, i) << 24) | (byte(bytes, i + 1) << 16) | (byte(bytes, i + 2) << 8) | byte(bytes, i + 3)
  }
  for (let t = 16; t < ROUNDS; t++) {
    const w15 = word(w, t - 15)
    const w2 = word(w, t - 2)
    const sigma0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3)
    const sigma1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10)
    w[t] = (sigma1 + word(w, t - 7) + sigma0 + word(w, t - 16)) | 0
  }
}

/** The compression of one block (6.2.2, steps 2 to 4). */
function mix(state: Int32Array, w: Int32Array): void {
  let a = word(state, 0)
  let b = word(state, 1)
  let c = word(state, 2)
  let d = word(state, 3)
  let e = word(state, 4)
  let f = word(state, 5)
  let g = word(state, 6)
  let h = word(state, 7)
  for (let t = 0; t < ROUNDS; t++) {
    const t1 = (h + sum1(e) + choose(e, f, g) + word(K, t) + word(w, t)) | 0
    const t2 = (sum0(a) + majority(a, b, c)) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = word(state, 0) + a
  state[1] = word(state, 1) + b
  state[2] = word(state, 2) + c
  state[3] = word(state, 3) + d
  state[4] = word(state, 4) + e
  state[5] = word(state, 5) + f
  state[6] = word(state, 6) + g
  state[7] = word(state, 7) + h
}

function sum0(a: number): number {
  return rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
}

function sum1(e: number): number {
  return rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
}

function choose(e: number, f: number, g: number): number {
  return (e & f) ^ (~e & g)
}

function majority(a: number, b: number, c: number): number {
  return (a & b) ^ (a & c) ^ (b & c)
}

function rotate(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits))
}

function byte(bytes: Uint8Array, index: number): number {
  return bytes[index] as number
}

function word(words: Int32Array, index: number): number {
  return words[index] as number
}

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
}

function fraction(root: number): number {
  return Math.floor((root % 1) * 2 ** 32) | 0
}
