/** The events of a CI run that the API knows. */
export type CiEvent = 'push' | 'pull_request' | 'tag' | 'schedule' | 'manual' | 'other'

/** The CI job in which the program runs. What the CI does not tell is null. */
export type CiJob = {
  /** The name in the API, such as `github-actions`. */
  ci_system: string
  /** The name for people, such as `GitHub Actions`. */
  ci_system_name: string
  external_run_id: string
  attempt: number
  /** The CI server or organization, within which the id of the run is unique. */
  ci_instance: string | null
  /** A URL, an scp-style address or `host/owner/name`, without credentials. */
  repository: string | null
  /** 40 or 64 lowercase hexadecimal digits. */
  commit_sha: string | null
  /** The commit that a merge commit was made of, where the CI names both. */
  head_sha: string | null
  /** The name of a branch, or a ref such as `refs/tags/v1`. */
  ref: string | null
  pipeline_name: string | null
  /** The name of the job inside of the run. */
  job: string | null
  /** What the CI calls this job inside of this run: equal for every try of it, different for every other job. */
  job_key: string | null
  /** The CI's id of this one execution of the job. */
  job_instance: string | null
  /** How often the CI tried the job before. */
  job_retries: number | null
  actor: string | null
  event: CiEvent
  /** The page of the run in its CI system. */
  url: string | null
}

/** What `env-ci` found. */
export type Detected = {
  service?: string
  name?: string
  commit?: string | undefined
  branch?: string | undefined
  prBranch?: string | undefined
  tag?: string | undefined
  build?: string | undefined
  buildUrl?: string | undefined
  slug?: string | undefined
  isPr?: boolean
}

/** The fields of a job before they are checked: absent, empty and unusable values become null. */
export type CiFields = Pick<CiJob, 'ci_system'> & {
  [Field in Exclude<keyof CiJob, 'ci_system' | 'event'>]?: CiJob[Field] | string | undefined
} & { event?: CiEvent }

/** Reads the variables of one CI system. */
export type CiReader = (env: NodeJS.ProcessEnv, detected: Detected) => CiFields

/** The ref of a tag, or else the branch. The API takes a name without `refs/` for a branch. */
export function refOf(tag: string | undefined, branch: string | undefined): string | undefined {
  return tag ? `refs/tags/${tag}` : branch
}

/** The event by the name that the CI system has for it. */
export function eventNamed(name: string | undefined, events: Readonly<Record<string, CiEvent>>): CiEvent {
  return events[name ?? ''] ?? 'other'
}

/**
 * Removes the user and password of an http address, where many CI systems put a token, and the
 * password of an ssh address.
 */
export function withoutCredentials(address: string): string {
  return address.replace(/^(https?:\/\/)[^/]*@/i, '$1').replace(/^(ssh:\/\/[^/:@]*):[^/]*@/i, '$1@')
}
