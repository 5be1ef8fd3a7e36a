import { GatewayRejection } from '../../../platform/http/api-error.ts'
import { truncate } from '../../../platform/truncate.ts'

/**
 * Why a token is rejected: it is good but for its expiry, it is not good, or it is good and no
 * trust has conditions that it satisfies.
 */
export type RejectionReason = 'expired' | 'invalid' | 'unmatched'

/** Details can contain a part of the token, of any length and with control characters. */
const DETAILS_CHARS_MAX = 400

/**
 * A rejected token. The caller gets the 401 of every rejection, without the details: they are for
 * the log and for `trust test`.
 */
export class TokenRejection extends GatewayRejection {
  readonly reason: RejectionReason
  readonly details: string

  constructor(reason: RejectionReason, details: string) {
    super(401)
    this.reason = reason
    this.details = truncate(details.replaceAll(/\p{Cc}/gu, '?'), DETAILS_CHARS_MAX)
  }
}
