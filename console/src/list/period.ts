/** Days of the reader's calendar, such as `2026-01-31`, both included. */
export type Period = { since?: string | undefined; until?: string | undefined }

/** The times of the API's filters `since` and `until`. */
export function toWindow({ since, until }: Period): Period {
  return { since: toTime(since, 'T00:00'), until: toTime(until, 'T23:59:59.999') }
}

function toTime(day: string | undefined, time: string): string | undefined {
  const date = new Date(`${day}${time}`)
  return day === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
