import * as v from 'valibot'

const OWNER_AND_NAME = /^(?!\s)[^/\p{Cc}]+(?:\/[^/\p{Cc}]+)+(?<!\s)$/u

// What the address may hold behind its `?`. A value that is not valid counts as not given, so that
// an old or mistyped address still opens the page. Routes use these as
// `validateSearch: v.object({ status: choice(STATUSES), repository: repositoryName() })`.

/** One of a few values. */
export function choice<const Value extends string>(values: readonly Value[]) {
  return v.fallback(v.optional(v.picklist(values)), undefined)
}

/** Some text. */
export function text(lengthMax: number) {
  return v.fallback(
    v.optional(
      v.pipe(
        v.union([v.string(), v.number()]),
        v.transform(String),
        v.minLength(1),
        v.maxLength(lengthMax),
        // The API refuses what it cannot store.
        v.check((given) => given.isWellFormed() && !given.includes('\0')),
      ),
    ),
    undefined,
  )
}

/** A repository as `owner/name`. */
export function repositoryName() {
  return v.fallback(v.optional(v.pipe(v.string(), v.maxLength(300), v.regex(OWNER_AND_NAME))), undefined)
}

/** A day of the reader's calendar, such as `2026-01-31`. */
export function day() {
  return v.fallback(v.optional(v.pipe(v.string(), v.isoDate())), undefined)
}

/** A whole number from 1. */
export function count() {
  return v.fallback(v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))), undefined)
}

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
