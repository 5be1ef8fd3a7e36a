import { createHash } from 'node:crypto'
import type { HostSource } from './host-event.ts'

/** What decides which of two versions of an object is newer, the most significant part first. */
type Version = {
  attempt?: number
  /** Null sorts first. */
  updated_at: Date | null
  /** The place of the object's state in the order of its states. */
  state: number
  /** Orders versions that are otherwise equal, so that they have one order everywhere. */
  content: unknown
  /** How and when the version was learned. Absent: it was told, at an unknown time. */
  learned?: HostSource['learned']
}

/**
 * The version of a host's object, as text: attempt, the host's `updated_at`, the order of the
 * state, the content, and how it was learned (`r` and the time of the request, or `t` and that of
 * the webhook). Versions that equal but for the last part describe the same.
 */
export function computeHostVersion({ attempt = 0, updated_at, state, content, learned }: Version): string {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)
  const slot = learned === undefined ? 't' : `${learned.by === 'read' ? 'r' : 't'}${learned.at.toISOString()}`
  return [String(attempt).padStart(4, '0'), updated_at?.toISOString() ?? '', state, digest, slot].join(' ')
}

/**
 * Whether a version replaces a stored one (providers.md §2): by attempt, then by `updated_at`.
 * Hosts round times to seconds. Of versions of one second, what was read wins over everything that
 * was learned before the request, whatever its state; otherwise the order of the states decides, so
 * that the order in which webhooks arrive has no effect. The same as `buildIsNewer`.
 */
export function isNewerVersion(given: string, stored: string): boolean {
  const [one, other] = [parseVersion(given), parseVersion(stored)]
  if (one.time !== other.time) return one.time > other.time
  const isTie = one.slot === other.slot || one.described === other.described
  if (!isTie && one.slot.startsWith('r') && one.slot.slice(1) >= other.slot.slice(1)) return true
  if (!isTie && other.slot.startsWith('r') && other.slot.slice(1) >= one.slot.slice(1)) return false
  if (one.described !== other.described) return one.described > other.described
  // Of versions that describe the same, the last read stays: nothing older replaces it.
  return one.slot.startsWith('r') && (!other.slot.startsWith('r') || one.slot > other.slot)
}

/** Versions of earlier releases have no last part. */
function parseVersion(version: string): { time: string; described: string; slot: string } {
  const [attempt = '', updatedAt = '', state = '', digest = '', slot = 't'] = version.split(' ')
  return { time: `${attempt} ${updatedAt}`, described: `${state} ${digest}`, slot }
}

/** Whether two versions of an object describe the same, however they were learned. */
export function isSameVersion(one: string, other: string): boolean {
  const [a, b] = [parseVersion(one), parseVersion(other)]
  return a.time === b.time && a.described === b.described
}
