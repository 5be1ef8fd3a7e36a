import { createHash } from 'node:crypto'
import type { Db } from '../platform/db/sql.ts'
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
  return one.described === other.described ? isLaterRead(one.slot, other.slot) : one.described > other.described
}

/** Of versions that describe the same, the one that was read last stays: nothing older replaces it. */
function isLaterRead(given: string, stored: string): boolean {
  return given.startsWith('r') && (!stored.startsWith('r') || given > stored)
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

/** SQL: whether the version `given` replaces `stored`. The same as `isNewerVersion`. */
export function buildIsNewer(db: Db, given: ReturnType<Db>, stored: ReturnType<Db>) {
  const part = (version: ReturnType<Db>, at: number) => db`split_part(${version}, ' ', ${at}) collate "C"`
  const time = (version: ReturnType<Db>) => db`(${part(version, 1)}, ${part(version, 2)})`
  const described = (version: ReturnType<Db>) => db`(${part(version, 3)}, ${part(version, 4)})`
  const isRead = (version: ReturnType<Db>) => db`starts_with(${part(version, 5)}, 'r')`
  const at = (version: ReturnType<Db>) => db`substr(${part(version, 5)}, 2)`
  return db`
    case
      when ${time(given)} <> ${time(stored)} then ${time(given)} > ${time(stored)}
      when ${described(given)} = ${described(stored)}
      then ${isRead(given)} and (not ${isRead(stored)} or ${at(given)} > ${at(stored)})
      when ${part(given, 5)} = ${part(stored, 5)} then ${described(given)} > ${described(stored)}
      when ${isRead(given)} and ${at(given)} >= ${at(stored)} then true
      when ${isRead(stored)} and ${at(stored)} >= ${at(given)} then false
      else ${described(given)} > ${described(stored)}
    end`
}
