/** The longest that a poll may wait for a decision. */
const WAIT_SECONDS_MAX = 20

/** Seconds of `Prefer: wait=…` (RFC 7240 §4.3), at most 20; null where none is asked for. */
export function preferredWaitSeconds(header: string | undefined): number | null {
  const asked = (header ?? '')
    .slice(0, 1000)
    .split(',')
    .find((preference) => /^\s*wait\s*=/i.test(preference))
  const value = /=\s*"?(\d{1,9})"?\s*(?:;|$)/.exec(asked ?? '')?.[1]
  return value === undefined ? null : Math.min(Number(value), WAIT_SECONDS_MAX)
}
