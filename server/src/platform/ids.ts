import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'

const nextUlid = monotonicFactory(randomFraction)
let pool = randomBytes(4096)
let used = 0

/**
 * Returns a random fraction in [0, 1). Random bytes are drawn in blocks, because an id needs
 * sixteen calls.
 */
function randomFraction(): number {
  if (used + 4 > pool.length) {
    pool = randomBytes(pool.length)
    used = 0
  }
  used += 4
  return pool.readUInt32LE(used - 4) / 2 ** 32
}

/** `run_` and a ULID: sortable by creation, 26 characters of Crockford base32. */
export function newRunId(at: Date): string {
  return `run_${nextUlid(at.getTime())}`
}

/** `dep_` and a ULID. */
export function newDeploymentId(at: Date): string {
  return `dep_${nextUlid(at.getTime())}`
}

/**
 * A version 7 UUID (RFC 9562 §5.7): starts with the Unix time in milliseconds, so that new rows
 * land at the end of an index.
 */
export function newUuid(at: Date): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(at.getTime(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** 32 random lowercase hex characters. */
export function newHexId(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Ids for the parts of one whole: version 7 UUIDs that differ in their last 32 bits and sort by
 * position.
 */
export function newUuidSeries(at: Date): (position: number) => string {
  const prefix = newUuidPrefix(at)
  return (position) => prefix + position.toString(16).padStart(8, '0')
}

/**
 * What the ids of a series begin with: all but their last eight hex digits, which are the position.
 */
export function newUuidPrefix(at: Date): string {
  return newUuid(at).slice(0, -8)
}

/** Not above any version 7 UUID of that millisecond or a later one, and above all earlier ones. */
export function lowestUuidAt(at: Date): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
