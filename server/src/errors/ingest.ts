import { defineError } from '../platform/http/api-error.ts'

/** Errors of the ingest routes only. docs/ingest.md describes them and the form of their bodies. */

export const tokenExpired = defineError({
  status: 401,
  code: 'token_expired',
  cause: 'The token has expired.',
  remedy: 'Request a new token.',
  message: 'The token has expired. Request a new one.',
})

/** The text is always the same, so that it does not tell the reason. */
export const tokenInvalid = defineError({
  status: 401,
  code: 'token_invalid',
  cause: 'The token is not accepted.',
  remedy: 'Run `trust test`.',
  message: 'The token is not accepted.',
})

export const repoNotLinked = defineError({
  status: 403,
  code: 'repo_not_linked',
  cause: 'No organization trusts this repository to send reports.',
  remedy: 'Create a trust with the scope of the route.',
  message: 'No organization trusts this repository to send reports.',
})

export const reportNotFound = defineError({
  status: 404,
  code: 'report_not_found',
  cause: 'The run of the token has no such report.',
  remedy: 'Check the id.',
  message: 'The run of this token has no such report.',
})
