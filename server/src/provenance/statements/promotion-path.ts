import type { PromotedDeployment, PromotionPath } from '../../deployments/promotion.ts'
import { splitAddress } from '../../repositories/repository-identity.ts'
import type { ChainState } from '../chain/read-chain-state.ts'
import type { StoredChange } from '../changes/change.store.ts'
import { commitSubject } from './change-content.ts'
import type { StatementContent, Subject } from './in-toto-statement.ts'

export const PROMOTION_PATH = 'https://shiplock.dev/promotion-path/v1'

/** The full SHA-1 or SHA-256 of a commit. */
export function isCommit(sha: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)
}

export type ChangeOfPath = ReturnType<typeof toChangeOfPath>

/**
 * What a promotion path states of the change. Reviews and deviations are those of the record, that
 * is, at the time of the merge; amendments name later links of the chain.
 */
export function toChangeOfPath(change: StoredChange, { breaks }: ChainState) {
  const { id, landed_at, merge_sha, chain, amendments } = change
  return {
    id,
    landed_at: landed_at.toISOString(),
    merge_sha,
    record: change.record && toRecordOfPath(change.record),
    amendments: amendments.map(({ kind, at, chain }) => ({ kind, at, chain })),
    chain,
    ...(breaks.length > 0 && { breaks }),
  }
}

function toRecordOfPath(record: NonNullable<StoredChange['record']>) {
  const { branch, landed_by, pull_request, pusher, reviews, deviations } = record
  return {
    branch,
    landed_by,
    pull_request,
    pusher,
    reviews: reviews.map(({ reviewer, state, commit_sha, submitted_at, stale }) => ({
      ...{ reviewer, state, commit_sha, submitted_at, stale },
    })),
    deviations,
  }
}

/** The lineage statement: how a commit came to an environment, and who approved it at each step. */
export function promotionPathContent(
  deployment: PromotedDeployment,
  path: PromotionPath,
  change: ChangeOfPath | null,
): StatementContent {
  const { provider, repository_id: id, address, commit_sha: commit } = deployment
  const { host, name: full_name } = splitAddress(address)
  return {
    subject: subjectsOf(deployment, path),
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
export function subjectsOf({ address, commit_sha }: PromotedDeployment, { artifacts }: PromotionPath): Subject[] {
  const { host, name: full_name } = splitAddress(address)
  const names = new Map<string, string>()
  for (const { sha256, path } of artifacts.items) if (!names.has(sha256)) names.set(sha256, path)
  const files = [...names].map(([sha256, name]) => ({ name, digest: { sha256 } }))
  return [commitSubject({ host, full_name }, commit_sha), ...files]
}
