import { ApiError, type ErrorDetails } from './api-error.ts'

/** A code, and what its row in docs/errors.md says: Markdown, in sentences. */
export type ErrorDescription = {
  status: number
  code: string
  cause: string
  remedy: string
}

/** Builds the error of one code: `throw policyInUse(gates)`. */
export type ErrorKind<Params extends unknown[]> = ((...params: Params) => ApiError) & ErrorDescription

type FixedError = ErrorDescription & { message: string }
type DescribedError<Params extends unknown[]> = ErrorDescription & {
  message: (...params: Params) => string
  details?: (...params: Params) => ErrorDetails
}

/**
 * Declares the only error with this code and status. Without a message, whoever throws it says what
 * happened: `throw trustConflict('…')`.
 */
export function defineError(declared: FixedError): ErrorKind<[]>
export function defineError<Params extends unknown[]>(declared: DescribedError<Params>): ErrorKind<Params>
export function defineError(declared: ErrorDescription): ErrorKind<[message: string, details?: ErrorDetails]>
export function defineError<Params extends unknown[]>(
  declared: ErrorDescription & { message?: string | DescribedError<Params>['message']; details?: unknown },
): ErrorKind<Params> {
  const { status, code, cause, remedy, message } = declared
  const build = (...params: Params): ApiError => {
    if (message === undefined) return new ApiError(status, code, ...(params as unknown as [string, ErrorDetails]))
    if (typeof message === 'string') return new ApiError(status, code, message)
    const { details } = declared as DescribedError<Params>
    return new ApiError(status, code, message(...params), details?.(...params))
  }
  return Object.assign(build, { status, code, cause, remedy })
}
