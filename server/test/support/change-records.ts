import type { RunStatus } from '../../src/ci/runs/run-status.ts'
import type {
  BranchRules,
  ChangeCommit,
  RecordAccount,
  RecordCheck,
  RecordReview,
} from '../../src/provenance/changes/change-record.ts'
import type { UnratedRecord } from '../../src/provenance/changes/deviations.ts'

export const BASE = '0'.repeat(40)
export const HEAD = 'a'.repeat(40)
export const MERGE = 'b'.repeat(40)

export const ALICE: RecordAccount = { id: '1', login: 'alice', is_bot: false }
export const BOB: RecordAccount = { id: '2', login: 'bob', is_bot: false }
export const CAROL: RecordAccount = { id: '3', login: 'carol', is_bot: false }

/** A commit of an account, with a verified signature. */
export function commitOf(account: RecordAccount, sha = HEAD, signed = true): ChangeCommit {
  const person = { name: account.login, email: `${account.login}@example.com`, id: account.id, login: account.login }
  const signature = { verified: signed, reason: signed ? 'valid' : 'unsigned' }
  return { sha, author: person, committer: person, signature }
}

type ReviewOptions = { minute?: number; stale?: boolean; id?: string }

/** A review of the newest commit, submitted at a minute after 12:00. The merge is at 13:00. */
export function reviewOf(
  reviewer: RecordAccount | null,
  state: RecordReview['state'] = 'approved',
  { minute = 10, stale = false, id }: ReviewOptions = {},
): RecordReview {
  const submitted_at = new Date(Date.UTC(2026, 0, 31, 12, minute)).toISOString()
  const commit_sha = stale ? BASE : HEAD
  return { id: id ?? `${reviewer?.login}-${minute}-${state}`, reviewer, state, commit_sha, submitted_at, stale }
}

/** A check named `build` of the newest commit. */
export function checkOf(
  status: RunStatus,
  { name = 'build', commit_sha = HEAD, required = null }: Partial<RecordCheck> = {},
) {
  return { name, source: 'ci', status, required, commit_sha, url: null, completed_at: '2026-01-31T12:30:00.000Z' }
}

export const NO_RULES: BranchRules = {
  requires_pull_request: false,
  required_approvals: 0,
  requires_code_owner_review: false,
  required_checks: [],
  requires_signatures: false,
  blocks_force_pushes: false,
  blocks_deletion: false,
  requires_merge_queue: false,
  complete: false,
}

/**
 * The change of Alice's pull request, which Bob approved and Alice merged. It has no deviations.
 */
export function mergedRecord(changes: Partial<UnratedRecord> = {}): UnratedRecord {
  return {
    version: 1,
    id: 'chg_01KG9HZ8000000000000000000',
    repository: { provider: 'github', host: 'github.com', id: '1001', full_name: 'acme/widgets' },
    branch: 'main',
    landed_by: 'pull_request',
    landed_at: '2026-01-31T13:00:00.000Z',
    commits: { head: HEAD, base: BASE, merge: MERGE, list: [commitOf(ALICE)], complete: true },
    pull_request: {
      number: 7,
      title: 'Add a widget',
      url: 'https://github.com/acme/widgets/pull/7',
      author: ALICE,
      opened_at: '2026-01-31T12:00:00.000Z',
      merged_at: '2026-01-31T13:00:00.000Z',
      merged_by: ALICE,
    },
    pusher: null,
    forced: false,
    reviews: [reviewOf(BOB)],
    branch_rules: null,
    checks: [checkOf('success'), checkOf('success', { commit_sha: MERGE })],
    runs: [],
    code_owners: null,
    security: null,
    ...changes,
  }
}

/** The change of Alice's push of one commit. */
export function pushedRecord(changes: Partial<UnratedRecord> = {}): UnratedRecord {
  return mergedRecord({
    landed_by: 'push',
    commits: { head: MERGE, base: BASE, merge: MERGE, list: [commitOf(ALICE, MERGE)], complete: true },
    pull_request: null,
    pusher: ALICE,
    reviews: [],
    checks: [checkOf('success', { commit_sha: MERGE })],
    ...changes,
  })
}
