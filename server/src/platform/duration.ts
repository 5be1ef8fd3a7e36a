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
