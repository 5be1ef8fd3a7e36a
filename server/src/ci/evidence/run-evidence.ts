/** The maximum length of each list, which bounds the size of the evidence of one run. */
export const EVIDENCE_ITEMS_MAX = 1000

/** What a CI system has reported about one attempt of a run. Times are formatted as in the API. */
export type RunEvidence = {
  run: RunFacts
  attempts: { number: number; status: string; started_at: string; completed_at: string | null; trust: string }[]
  reports: ReportFacts[]
  attestations: AttestationFacts[]
  artifacts: { path: string; size: number; sha256: string; at: string; trust: string }[]
}

type RunFacts = {
  id: string
  provider: string
  ci_system: string
  external_run_id: string
  repository: string
  ref: string | null
  commit_sha: string | null
  pipeline_name: string
  event: string
  attempt: number
  status: string
  actor: string | null
  started_at: string
  completed_at: string | null
  trust: string
}

type ReportFacts = {
  id: string
  job: string
  name: string
  matrix: Record<string, unknown> | null
  runner: string | null
  at: string
  trust: string
}

type AttestationFacts = {
  report_id: string
  job: string
  kind: string
  name: string
  status: string
  /** Null when the attestations before this one have used up the size limit. */
  data: Record<string, unknown> | null
  at: string
  trust: string
}
