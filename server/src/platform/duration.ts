const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const FORM = /^([1-9]\d{0,5})([mhd])$/

/** Ten years: longer than anything should last that people write down, and than any typing error means. */
export const DURATION_DAYS_MAX = 3650

/** `90d`, `12h` or `30m` in milliseconds, at most ten years; null where a text is no such time. */
export function durationMs(text: string): number | null {
  const [, amount = '', unit = ''] = FORM.exec(text) ?? []
  const ms = Number(amount) * (UNITS_MS[unit] ?? Number.NaN)
  return ms > 0 && ms <= DURATION_DAYS_MAX * 86_400_000 ? ms : null
}
