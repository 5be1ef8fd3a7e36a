import { Type } from 'typebox'

/** A GUID, in any case. */
export const Guid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })

/** Times have up to seven digits after the second, and some no zone. */
export const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d' })

/** Null for a time that is missing; the year 1 stands for none. */
export function timeOrNull(time: string | null | undefined): Date | null {
  if (!time || time.startsWith('0001-')) return null
  const at = new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`)
  return Number.isNaN(at.getTime()) ? null : at
}

/** The latest of the times that are known. */
export function latest(times: (Date | null)[], otherwise: Date): Date {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? otherwise : new Date(Math.max(...known.map((time) => time.getTime())))
}

const NO_COMMIT = /^0+$/

/** Zeros stand for no commit. */
export function commitOrNull(sha: string | null | undefined): string | null {
  return !sha || NO_COMMIT.test(sha) ? null : sha
}
