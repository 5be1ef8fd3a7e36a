import type { ArtifactLane } from '../../ci/evidence/commit-evidence.schema.ts'
import { COMMIT_SHA } from '../../ci/runs/run.schema.ts'
import type { PathLanes, PromotedDeployment, PromotionPath } from '../../deployments/promotion.ts'
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
  deployment: PromotedDeployment & { path: PromotionPath; lanes: PathLanes },
  change: ChangeOfPath | null,
): StatementContent {
  const { provider, repository_id: id, address, commit_sha: commit, path, lanes } = deployment
  const { host, name: full_name } = splitAddress(address)
  const { complete, later } = splitArtifacts(deployment)
  const named = splitSubjects(lanes)
  return {
    subject: getSubjects(deployment),
    predicateType: PROMOTION_PATH,
    predicate: {
      repository: { provider, host, id, full_name },
      commit,
      commit_trust: lanes.commit,
      decided_at: lanes.decided_at,
      change,
      runs: path.runs.items,
      runs_omitted: path.runs.omitted,
      artifacts: complete,
      artifacts_omitted: path.artifacts.omitted,
      ...(lanes.subjects && { subjects: named.complete }),
      amendments: [
        ...later.map((artifact) => ({ kind: 'artifact', at: artifact.completed_at, artifact })),
        ...named.later.map((subject) => ({ kind: 'subject', at: subject.stated_at, subject })),
      ],
      earlier_deployments: path.earlier.items,
      earlier_deployments_omitted: path.earlier.omitted,
      deployment: path.deployment,
    },
  }
}

type ReadPath = { path: PromotionPath; lanes: PathLanes }

/** The artifacts with their lanes: those that the deployment was decided about, and later ones. */
function splitArtifacts({ path, lanes }: ReadPath) {
  const all = path.artifacts.items.map((artifact, nth) => ({ ...artifact, ...(lanes.artifacts[nth] as ArtifactLane) }))
  const decidedAt = Date.parse(lanes.decided_at)
  const [complete = [], later = []] = [true, false].map((isComplete) =>
    all.filter(({ completed_at }) => Date.parse(completed_at) <= decidedAt === isComplete),
  )
  return { complete, later }
}

/** The subjects that the deployment was decided about, and later ones. */
function splitSubjects({ subjects = [], decided_at }: PathLanes) {
  const [complete = [], later = []] = [true, false].map((isComplete) =>
    subjects.filter(({ stated_at }) => Date.parse(stated_at) <= Date.parse(decided_at) === isComplete),
  )
  return { complete, later }
}

/**
 * The commit if the host or a token named it, the newest verified artifact of each path and the
 * newest verified subject of each name that were complete when the deployment was decided, and what
 * its gate was opened with if that is verified. Equal contents are one subject. If there is none of
 * all these, the commit with who named it.
 */
export function getSubjects(deployment: PromotedDeployment & ReadPath): Subject[] {
  const { address, commit_sha, lanes } = deployment
  const { host, name: full_name } = splitAddress(address)
  const commit = toCommitSubject({ host, full_name }, commit_sha)
  const verified = splitArtifacts(deployment).complete.filter(({ trust }) => trust === 'verified')
  // The list is by path and attempt. Within an attempt, the last one counts.
  const byAge = verified.toSorted(
    (a, b) => a.attempt - b.attempt || Date.parse(a.completed_at) - Date.parse(b.completed_at),
  )
  const latest = new Map(byAge.map(({ path, sha256 }) => [path, sha256]))
  const named = splitSubjects(lanes).complete.filter(({ trust }) => trust === 'verified')
  const reported = named
    .filter(({ source }) => source === 'report')
    .toSorted((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0) || Date.parse(a.stated_at) - Date.parse(b.stated_at))
  const images = new Map(reported.map(({ name, sha256 }) => [name, sha256]))
  const stated = named.filter(({ source }) => source === 'gate').map(({ name, sha256 }) => [name, sha256] as const)
  const newest = [...latest, ...images, ...stated].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = new Map<string, string>()
  for (const [path, sha256] of newest) if (!names.has(sha256)) names.set(sha256, path)
  const files = [...names].map(([sha256, name]) => ({ name, digest: { sha256 } }))
  if (lanes.commit === 'verified') return [commit, ...files]
  return files.length > 0 ? files : [{ ...commit, annotations: { trust: lanes.commit } }]
}
