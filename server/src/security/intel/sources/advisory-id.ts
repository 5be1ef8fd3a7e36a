/** An id as vulnerability databases give them, in their own case; null when the value is none. */
export function advisoryIdOf(value: unknown): string | null {
  return typeof value === 'string' && /^[!-~]{1,200}$/.test(value) ? value : null
}
