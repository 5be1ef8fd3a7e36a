import { TRUST_CLASSES } from '../ci/runs/trust.ts'

/** Who speaks: the lanes of runs, and people (trust §1), as they are shown. */
export const MARK_LANES = [...TRUST_CLASSES, 'ui'] as const
export type MarkLane = (typeof MARK_LANES)[number]

export const MARKED_STATUSES = ['in_progress', 'success', 'failure', 'cancelled'] as const
export type MarkedStatus = (typeof MARKED_STATUSES)[number]

/** What is said of a deployment. What is left out stays as it is. */
export type MarkedChange = { status?: MarkedStatus; version?: string; url?: string }

/** What somebody has said of a deployment, in the form of the API. */
export type Mark = {
  trust: MarkLane
  status: MarkedStatus | null
  version: string | null
  url: string | null
  by: { type: string; name: string }
  at: string
}

/**
 * The marks with a new one; the same list if it says nothing new. Each lane has one mark of a
 * status, which keeps its time, and one of what it said beside, so that the list stays short.
 */
export function mergeMark(
  marks: readonly Mark[],
  { status, version, url }: MarkedChange,
  said: Pick<Mark, 'trust' | 'by' | 'at'>,
): readonly Mark[] {
  const own = marks.filter(({ trust }) => trust === said.trust)
  const isNews =
    (version !== undefined && version !== own.findLast((mark) => mark.version !== null)?.version) ||
    (url !== undefined && url !== own.findLast((mark) => mark.url !== null)?.url)
  const newStatus = status !== undefined && status !== getMarkedStatus(marks, said.trust) ? status : null
  if (newStatus === null && !isNews) return marks
  const beside = own.find((mark) => mark.status === null)
  const kept = newStatus === null ? marks.filter((mark) => mark !== beside) : marks
  const before = newStatus === null ? beside : undefined
  const mark = { status: newStatus, version: version ?? before?.version ?? null, url: url ?? before?.url ?? null }
  return [...kept, { ...said, ...mark }]
}

/** The status that a lane has stated last; null for none. */
export function getMarkedStatus(marks: readonly Mark[], lane: MarkLane): MarkedStatus | null {
  return marks.findLast(({ trust, status }) => trust === lane && status !== null)?.status ?? null
}
