import { ApiError } from '../../platform/http/errors.ts'

const REASON_CHARS_MIN = 10
const REASON_CHARS_MAX = 500

/** The reason that an API key has to give (specification, "Approve and reject rules" 5). Throws 400 `reason_required`. */
export function requireReason(reason: string | undefined): string {
  const trimmed = reason?.trim() ?? ''
  const chars = [...trimmed].length
  if (chars >= REASON_CHARS_MIN && chars <= REASON_CHARS_MAX) return trimmed
  const message = `An API key gives a reason of ${REASON_CHARS_MIN} to ${REASON_CHARS_MAX} characters.`
  throw new ApiError(400, 'reason_required', message, { minLength: REASON_CHARS_MIN, maxLength: REASON_CHARS_MAX })
}
