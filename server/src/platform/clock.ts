/**
 * The only source of "now". Tests freeze it; nothing else may call `new Date()` without arguments.
 */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** Start of the UTC day of `at`. */
export function getUtcDayStart(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()))
}

/** Start of the next UTC day. */
export function getNextUtcDayStart(at: Date): Date {
  return new Date(getUtcDayStart(at).getTime() + DAY_MS)
}

/** Start of the UTC month of `at`. */
export function getUtcMonthStart(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
}

/** Start of the next UTC month. */
export function getNextUtcMonthStart(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))
}

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const FORM = /^([1-9]\d{0,5})([mhd])$/

/** Ten years. A longer duration is most likely a typing error. */
export const DURATION_DAYS_MAX = 3650

/**
 * Converts `90d`, `12h` or `30m` to milliseconds; null if the text is not a duration of up to ten
 * years.
 */
export function parseDurationMs(text: string): number | null {
  const [, amount = '', unit = ''] = FORM.exec(text) ?? []
  const ms = Number(amount) * (UNITS_MS[unit] ?? Number.NaN)
  return ms > 0 && ms <= DURATION_DAYS_MAX * 86_400_000 ? ms : null
}
