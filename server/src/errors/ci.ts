import { defineError } from '../platform/http/api-error.ts'

/** Runs of CI, and the attestations that are sent with them. */

export const kindNotAllowed = defineError({
  status: 400,
  code: 'kind_not_allowed',
  cause: 'An attestation has the kind `provenance` or `ownership`, which clients of the API cannot send.',
  remedy: 'Leave the attestation out.',
  message: (kind: string) => `Clients cannot send attestations of the kind ${kind}.`,
  details: (kind) => ({ kind }),
})

export const foreignRepository = defineError({
  status: 403,
  code: 'forbidden',
  cause:
    'The OIDC token of a CI job is about another repository than its own, or about another run although code of strangers may have run in the job; or the API key is limited to other repositories.',
  remedy: 'Send it in a job of that repository or run, or with an API key for it.',
})

export const otherLane = defineError({
  status: 403,
  code: 'other_lane',
  cause:
    'A credential that can be trusted more has stated the attempt of the run, such as its OIDC token. Or a credential of another kind has sent the report or opened the gate: an API key, the OIDC token of the run, or that of another run.',
  remedy:
    'Send the change with such a credential, or create a run or a report of your own. People reject a deployment.',
  message: (statement: string) => `${statement}, and only such a credential changes it.`,
})

export const runNotFound = defineError({
  status: 404,
  code: 'run_not_found',
  cause: 'The connected code host has not reported the run of the OIDC token yet.',
  remedy: 'Try again after the seconds in `Retry-After`.',
})

export const attemptOutdated = defineError({
  status: 409,
  code: 'attempt_outdated',
  cause: 'A higher attempt of the run exists.',
  remedy: 'Send a higher attempt.',
  message: (attempt: number, newestAttempt: number) =>
    `Attempt ${attempt} is lower than the newest attempt of the run, ${newestAttempt}.`,
  details: (_attempt, newestAttempt) => ({ newestAttempt }),
})

export const runConflict = defineError({
  status: 409,
  code: 'run_conflict',
  cause:
    'A run of another repository has the `ci_system`, `ci_instance` and `external_run_id` of the OIDC token, or of a higher attempt that names its `ci_instance`.',
  remedy: 'Send the `ci_instance` of the server that numbered the run.',
  message: 'A run of another repository has the same CI system and external run id.',
})

export const runMismatch = defineError({
  status: 409,
  code: 'run_mismatch',
  cause:
    'The attempt of the run is about another repository or commit than `expect` in the body says. `details` has `field`, `expected` and `stored`. Nothing was stored.',
  remedy: 'Send the run of this job: its CI server may have a number that another server uses, too.',
  message: ({ field, expected, stored }: { field: string; expected: string; stored: string }) =>
    `The ${field} of the run is ${stored}, not ${expected}.`,
  details: (mismatch) => mismatch,
})

export const runAlreadyFinished = defineError({
  status: 409,
  code: 'run_finished',
  cause: 'The attempt has finished. It cannot change, open a gate or be approved.',
  remedy: 'Create a new attempt.',
})
