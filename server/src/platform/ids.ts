import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'
import { v7 } from 'uuid'

/** The canonical form of a UUID of any version. */
export const UUID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
const UUID = new RegExp(UUID_PATTERN)

/** Whether a text is a UUID in its canonical form: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

const nextUlid = monotonicFactory(randomFraction)
let pool = randomBytes(4096)
let used = 0

/** Returns a fraction in [0, 1). Random bytes come in blocks: `ulid` needs 16 fractions per id. */
function randomFraction(): number {
  if (used + 4 > pool.length) {
    pool = randomBytes(pool.length)
    used = 0
  }
  used += 4
  return pool.readUInt32LE(used - 4) / 2 ** 32
}

/** Returns `run_` and a ULID: 26 characters of Crockford base32, sorted by creation. */
export function createRunId(at: Date): string {
  return `run_${nextUlid(at.getTime())}`
}

/** Returns `dep_` and a ULID, in the form of run ids. */
export function createDeploymentId(at: Date): string {
  return `dep_${nextUlid(at.getTime())}`
}

/** Returns `chg_` and a ULID, in the form of run ids. */
export function createChangeId(at: Date): string {
  return `chg_${nextUlid(at.getTime())}`
}

/** Returns a version 7 UUID (RFC 9562 §5.7). New ids go to the end of an index. */
export function createUuid(at: Date): string {
  return v7({ msecs: at.getTime() })
}

/** Returns 32 random lowercase hexadecimal characters. */
export function createHexId(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Returns a function that makes version 7 UUIDs. They sort by position, from 0 to 2^32 - 1. The
 * random bits are drawn once: drawing them for each of 100,000 ids takes longer than the rest.
 */
export function createUuidSeries(at: Date): (position: number) => string {
  const prefix = createUuidPrefix(at)
  return (position) => prefix + position.toString(16).padStart(8, '0')
}

/**
 * Returns the first 24 hexadecimal digits of ids that SQL completes with a row's position in 8
 * digits. `uuid` cannot make these ids, because the rows never leave PostgreSQL.
 */
export function createUuidPrefix(at: Date): string {
  return createUuid(at).slice(0, -8)
}

const ZEROS = new Uint8Array(16)

/** Returns the lowest version 7 UUID of a millisecond. Every earlier one is lower. */
export function getLowestUuid(at: Date): string {
  return v7({ msecs: Math.max(0, at.getTime()), seq: 0, random: ZEROS })
}
