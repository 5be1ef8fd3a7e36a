import { UsageError } from './command.ts'

const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const FORM = /^([1-9]\d{0,5})([mhd])$/
/** Ten years: longer than any key should live, and than any typing error means. */
const DAYS_MAX = 3650

/** `90d`, `12h` or `30m` in milliseconds, at most ten years. Throws a `UsageError`. */
export function parseDuration(option: string, text: string): number {
  const [, amount = '', unit = ''] = FORM.exec(text) ?? []
  const durationMs = Number(amount) * (UNITS_MS[unit] ?? Number.NaN)
  if (durationMs > 0 && durationMs <= DAYS_MAX * 86_400_000) return durationMs
  throw new UsageError(`--${option} must be a time like 90d, 12h or 30m, at most ${DAYS_MAX}d, not "${text}"`)
}
