/**
 * An intelligence file that cannot be imported. The message is one sentence that names the line or
 * record.
 */
export class IntelError extends Error {
  override readonly name = 'IntelError'
}

/** The version and date that a file states about itself. */
export type FileFacts = { version: string | null; as_of: Date }

/** A calendar date such as `2024-02-29`, or null if the value is not one. */
export function parseDate(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  const at = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value) ? value : null
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})$/

/** A time with a UTC offset (RFC 3339), or null if the value is not one. */
export function parseTimestamp(value: unknown): Date | null {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return null
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? null : at
}
