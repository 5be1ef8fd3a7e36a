/** `2024-02-29`, or null when the text is no day of the calendar. */
export function calendarDateOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  const at = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(value) ? value : null
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})$/

/** A time with its offset (RFC 3339), or null when the text is none. */
export function timestampOf(value: unknown): Date | null {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return null
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? null : at
}
