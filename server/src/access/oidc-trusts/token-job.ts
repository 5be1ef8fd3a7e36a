/** The issuers of CI jobs whose claims we can read. */
export const TRUST_PROVIDERS = ['github', 'gitlab', 'bitbucket', 'azure'] as const
export type TrustProvider = (typeof TRUST_PROVIDERS)[number]

/** What a trust lets count as the repository's own code, beyond what does by itself. */
export type TrustTerms = {
  /** Events of GitHub Actions. */
  trusted_events: string[]
  /** Whether jobs on self-hosted runners of public repositories count. */
  self_hosted: boolean
}

/** In which lane the jobs of a trust speak about other repositories: `uploaded` is that of keys. */
export const SPEAKS_AS = ['uploaded', 'verified'] as const

/** What a trust lets its jobs state about repositories that are not their own (trust §3). */
export type SpeaksFor = {
  /** Globs of the repositories; none by default. */
  speaks_for: string[]
  as: (typeof SPEAKS_AS)[number]
}

export type TokenEvent = 'push' | 'pull_request' | 'tag' | 'schedule' | 'manual' | 'other'

/**
 * The CI job that presents a verified token, as its claims describe it. A field that can be null is
 * null if no claim has it. Texts fit the fields of a CI run.
 */
export type TokenJob = {
  provider: TrustProvider
  /** Identifies the run of the job among the runs of an organization. */
  run: {
    ci_system: string
    /** The CI server or organization of the issuer. Null for an issuer on this machine. */
    ci_instance: string | null
    external_run_id: string
    /** What its code host calls the run. Null if the claims do not tell. */
    host_run_id: string | null
    attempt: number | null
  }
  repository: {
    /** The id of the repository at its code host, in the form in which repositories are stored. */
    id: string
    owner_id: string | null
    /** Null if the issuer does not tell the code host, as for an issuer on this machine. */
    host: string | null
    /** `host/owner/name`, or null where the claims have only ids. */
    address: string | null
  }
  /** What the CI system calls this one execution of the job. */
  instance: string | null
  commit_sha: string | null
  /** The full ref, such as `refs/heads/main` or `refs/tags/v1`. */
  ref: string | null
  pipeline_name: string | null
  run_number: number | null
  event: TokenEvent
  actor: string | null
  environment: string | null
  url: string | null
  /**
   * Whether code of strangers may have run in the job: `possible` if it may, `none` if not,
   * `pull_request` if only the code host can tell whether the head is in the same repository.
   */
  foreign_code: 'none' | 'possible' | 'pull_request'
  /** The claims that identified the job, kept with its run. */
  claims: Record<string, string>
  /** Absent if the job speaks about its own repository only. */
  others?: SpeaksFor
}

/** The form of the id of an execution of a job. */
export const JOB_INSTANCE = /^[^\s\p{Cc}]{1,200}$/u

/** Forms of the fields of a CI run (`ci/runs/run.schema.ts`), for readers of claims. */
export const RUN_ID = /^[A-Za-z0-9._:/-]{1,128}$/
export const COMMIT_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
export const REF = /^.{1,255}$/u
export const RUN_NUMBER_MAX = 2 ** 31 - 1
export const ATTEMPT_MAX = 999
export const NAME_CHARS_MAX = 200
const ADDRESS_CHARS_MAX = 300

/** `host/owner/name`, or null if it does not fit or a part is missing. */
export function toAddress(host: string, name: string | null): string | null {
  if (name === null || !/^[^/\s]+(?:\/[^/]+)+$/.test(name)) return null
  const address = `${host}/${name}`
  return address.length <= ADDRESS_CHARS_MAX ? address : null
}

/** A UUID without its braces, in lower case, as repositories are stored. */
export function normalizeUuid(text: string): string {
  return text.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}
