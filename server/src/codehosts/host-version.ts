import { createHash } from 'node:crypto'
import type { HostRunStatus } from './host-run.ts'

/** What decides which of two versions of an object is newer, the most significant part first. */
type Version = {
  attempt?: number
  /** Null sorts first. */
  updated_at: Date | null
  /** The place of the object's state in the order of its states. */
  state: number
  /** Orders versions that are otherwise equal, so that they have one order everywhere. */
  content: unknown
}

/**
 * The version of a host's object, as text that sorts like the versions (providers.md §2: attempt,
 * then `updated_at`, then the order of the state). Equal objects have equal versions.
 */
export function computeHostVersion({ attempt = 0, updated_at, state, content }: Version): string {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)
  return [String(attempt).padStart(4, '0'), updated_at?.toISOString() ?? '', state, digest].join(' ')
}

/** The place of a status in the order in which statuses follow each other. */
export function getStatusOrder(status: HostRunStatus): number {
  return { queued: 0, in_progress: 1 }[status as string] ?? 2
}
