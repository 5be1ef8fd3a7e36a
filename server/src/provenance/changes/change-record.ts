import type { RunStatus } from '../../ci/runs/run-status.ts'

/** An account of a code host. */
export type RecordAccount = { id: string; login: string; is_bot: boolean }

/**
 * Who wrote or committed a commit. `id` and `login` are null if the host knows no account for the
 * address.
 */
export type CommitPerson = { name: string; email: string | null; id: string | null; login: string | null }

export type ChangeCommit = {
  sha: string
  author: CommitPerson
  committer: CommitPerson
  /** As the host states it. Null: the host did not say. */
  signature: { verified: boolean; reason: string } | null
}

export type RecordReview = {
  id: string
  reviewer: RecordAccount | null
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  commit_sha: string | null
  submitted_at: string
  /** Commits followed the one that was reviewed. */
  stale: boolean
}

export type RecordCheck = {
  name: string
  source: string
  status: RunStatus
  /** Whether the branch rules require the check. Null: the rules are unknown. */
  required: boolean | null
  commit_sha: string
  url: string | null
  completed_at: string | null
}

/** A pipeline run of the landed commit. */
export type RecordRun = {
  id: string
  pipeline_name: string
  attempt: number
  status: RunStatus
  url: string | null
  completed_at: string | null
}

/** The owners of changed files, by a rule of the CODEOWNERS file. */
export type RecordOwners = {
  pattern: string
  owners: string[]
  /** How many changed files the rule owns. */
  files: number
  approved_by: string[]
  /** Null: unknown, because an owner is a team or an address. */
  satisfied: boolean | null
}

/** What the rules of the branch required. Null in the record: the rules are unknown. */
export type BranchRules = {
  requires_pull_request: boolean
  required_approvals: number
  requires_code_owner_review: boolean
  required_checks: string[]
  requires_signatures: boolean
  blocks_force_pushes: boolean
  blocks_deletion: boolean
  requires_merge_queue: boolean
  /** False if the branch can have further rules, which may not be read. */
  complete: boolean
}

export type SeverityCounts = { critical: number; high: number; medium: number; low: number; info: number }

export const DEVIATIONS = [
  'direct_push',
  'self_approved',
  'no_review',
  'stale_review',
  'check_failed',
  'bypassed_protection',
  'unsigned_commit',
] as const
export type Deviation = (typeof DEVIATIONS)[number]

/**
 * The record of a change that landed on a repository's tracked branch (provenance.md §1). It is
 * immutable. Times are formatted as in the API.
 */
export type ChangeRecord = {
  version: 1
  id: string
  repository: { provider: string; host: string; id: string; full_name: string }
  branch: string
  landed_by: 'pull_request' | 'push' | 'merge_queue'
  landed_at: string
  commits: {
    head: string
    base: string | null
    /** The commit on the branch that the change ends with. */
    merge: string
    /** Oldest first. */
    list: ChangeCommit[]
    /** False if the host did not list all commits. */
    complete: boolean
  }
  pull_request: {
    number: number
    title: string
    url: string | null
    author: RecordAccount | null
    opened_at: string
    merged_at: string
    merged_by: RecordAccount | null
  } | null
  /** Who pushed the commits. Null for a pull request. */
  pusher: RecordAccount | null
  /** Whether the push replaced commits of the branch. */
  forced: boolean
  reviews: RecordReview[]
  branch_rules: BranchRules | null
  checks: RecordCheck[]
  runs: RecordRun[]
  /** Null: no CODEOWNERS file is known. */
  code_owners: { path: string; commit_sha: string; rules: RecordOwners[] } | null
  /** Null: no scanner has reported on the repository. */
  security: {
    /** Open issues of the tracked branch. */
    open: SeverityCounts
    known_exploited: number
    /** Issues that the change adds. Null for a push. */
    added: (SeverityCounts & { known_exploited: number }) | null
  } | null
  deviations: Deviation[]
}

/** The facts of a record that can change after the change has landed. */
export type RecordedResults = Pick<ChangeRecord, 'reviews' | 'checks' | 'runs'>

/**
 * A late fact of a change. Its `facts` are the review, check or run in the form of the record, and
 * all deviations of the change that are known with it.
 */
export type Amendment = {
  change: string
  at: string
  kind: 'review' | 'check' | 'run'
  facts: { review?: RecordReview; check?: RecordCheck; run?: RecordRun; deviations: Deviation[] }
}
