import { COMMIT_SHA } from '../../ci/runs/run.schema.ts'
import type { PromotedDeployment, PromotionPath } from '../../deployments/promotion.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import type { ChangeRecord } from '../changes/change-record.ts'
import {
  type Breaks,
  type RecordedChange,
  type StatementContent,
  type Subject,
  toCommitSubject,
} from './statement-content.ts'

export const PROMOTION_PATH = 'https://shiplock.dev/promotion-path/v1'

/** Whether a deployment names a commit, and not a branch. */
export function isCommit(sha: string): boolean {
  return new RegExp(COMMIT_SHA).test(sha)
}

/** What a promotion path states of a change. */
type ChangeOfPath = ReturnType<typeof toChangeOfPath>

/**
 * `stated` is null if the records do not verify, or retention has removed them. Reviews and
 * deviations are those at the time of the merge; amendments name the later facts.
 */
export function toChangeOfPath(id: string, stated: RecordedChange | null, breaks: Breaks) {
  return {
    id,
    record: stated && toRecordOfPath(stated.record),
    amendments: stated?.amendments.map(({ kind, at, chain }) => ({ kind, at, chain })) ?? [],
    chain: stated?.chain ?? null,
    ...(breaks.length > 0 && { breaks }),
  }
}

function toRecordOfPath({ branch, landed_by, landed_at, commits, ...record }: ChangeRecord) {
  const { pull_request, pusher, reviews, deviations } = record
  return {
    branch,
    landed_by,
    landed_at,
    merge_sha: commits.merge,
    pull_request,
    pusher,
    deviations,
    reviews: reviews.map(({ reviewer, state, commit_sha, submitted_at, stale }) => ({
      reviewer,
      state,
      commit_sha,
      submitted_at,
      stale,
    })),
  }
}

/** The lineage statement: how a commit came to an environment, and who approved it at each step. */
export function toPromotionPathContent(
  deployment: PromotedDeployment,
  path: PromotionPath,
  change: ChangeOfPath | null,
): StatementContent {
  const { provider, repository_id: id, address, commit_sha: commit } = deployment
  const { host, name: full_name } = splitAddress(address)
  return {
    subject: getSubjects(deployment, path),
    predicateType: PROMOTION_PATH,
    predicate: {
      repository: { provider, host, id, full_name },
      commit,
      change,
      runs: path.runs.items,
      runs_omitted: path.runs.omitted,
      artifacts: path.artifacts.items,
      artifacts_omitted: path.artifacts.omitted,
      earlier_deployments: path.earlier.items,
      earlier_deployments_omitted: path.earlier.omitted,
      deployment: path.deployment,
    },
  }
}

/**
 * The commit, and each stated artifact of the run. Artifacts with equal contents are one subject.
 */
export function getSubjects({ address, commit_sha }: PromotedDeployment, { artifacts }: PromotionPath): Subject[] {
  const { host, name: full_name } = splitAddress(address)
  const names = new Map<string, string>()
  for (const { sha256, path } of artifacts.items) if (!names.has(sha256)) names.set(sha256, path)
  const files = [...names].map(([sha256, name]) => ({ name, digest: { sha256 } }))
  return [toCommitSubject({ host, full_name }, commit_sha), ...files]
}
