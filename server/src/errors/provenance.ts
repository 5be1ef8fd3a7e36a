import { type ApiError, defineError } from '../platform/http/api-error.ts'
import { missing, serviceUnavailable } from '../platform/http/errors.ts'

export const statementUnavailable = defineError({
  status: 409,
  code: 'statement_unavailable',
  cause:
    'There is no signed statement now. `details.reason` states why; see [Reasons of statements](#reasons-of-statements).',
  remedy: 'Depends on the reason.',
})

type ReasonDescription = { cause: string; remedy: string; isNotFound?: true }

/**
 * Why there is no statement (provenance.md §4). The first that applies is reported, in this order,
 * as 409 `statement_unavailable`, or as 404 `not_found` where the object has no such statement.
 */
export const STATEMENT_REASONS = {
  NOT_PROTECTED: {
    cause: 'No gate covers the environment of the deployment.',
    remedy: 'Configure a gate, and deploy again.',
    isNotFound: true,
  },
  NOT_LANDED: {
    cause: 'The pull request is open, or it was closed without merging.',
    remedy: 'Try again after it was merged.',
  },
  NO_COMMIT: {
    cause: 'The landed commit is not known yet, or the deployment names no commit.',
    remedy: 'Try again later. A deployment without a commit never gets a statement.',
  },
  NOT_DEPLOYED: { cause: 'The deployment did not succeed.', remedy: 'Read the deployment.' },
  LINEAGE_NOT_READY: {
    cause: 'The deployment or its run has not finished, or the data of the code host is still being synchronized.',
    remedy: 'Try again later.',
  },
  NO_CHANGE: {
    cause: 'No change record has the commit. This is always so for self-reported deployments.',
    remedy:
      'Connect the repository. A change that has just landed is recorded when its checks have finished, after an hour ' +
      'at the latest.',
    isNotFound: true,
  },
  RECORD_EXPIRED: {
    cause: 'The change landed before the start of the data retention of the plan.',
    remedy: 'Change the plan.',
  },
  CHAIN_BROKEN: {
    cause:
      'The chain of change records of the repository does not verify. Statements that were issued before stay available.',
    remedy:
      'Ask an administrator to examine it with `provenance verify` and to record what happened with `provenance ' +
      'acknowledge`.',
  },
} satisfies Record<string, ReasonDescription>

export type StatementReason = keyof typeof STATEMENT_REASONS

export function createNoStatementError(reason: StatementReason, message: string): ApiError {
  const { isNotFound }: ReasonDescription = STATEMENT_REASONS[reason]
  return (isNotFound ? missing : statementUnavailable)(message, { reason })
}

/** Nothing changes until an administrator has looked at it. */
const FORGERY_RETRY_SECONDS = 3600

/** 503 `unavailable`: a signing key or an issued statement was changed in the database. */
export function createForgeryError({ part, resource }: { part: 'key' | 'statement'; resource: string }): ApiError {
  const what = part === 'key' ? 'signing key' : 'statement'
  const message = `The ${what} ${resource} was not stored by this server as it is now. An administrator can examine it with "provenance verify".`
  return serviceUnavailable(message).retryAfter(FORGERY_RETRY_SECONDS)
}

/** Nothing changes until rows are restored, or the next entry signs a lost checkpoint again. */
const LOG_RETRY_SECONDS = 60

/** 503 `unavailable`: the stored transparency log contradicts itself, so nothing is signed. */
export function createLogError(problem: string): ApiError {
  return serviceUnavailable(problem).retryAfter(LOG_RETRY_SECONDS)
}
