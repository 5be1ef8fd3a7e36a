import { type ChangeFacts, findChangeFacts, isPushedTo } from '../../ci/changes/change-facts.store.ts'
import { EVIDENCE_ITEMS_MAX, findRunEvidence, type RunEvidence } from '../../ci/evidence/run-evidence.store.ts'
import { hasReadAlerts } from '../../codehosts/sync/sync-repository.store.ts'
import type { Db } from '../../platform/db/sql.ts'
import { findByAddress, type LinkedRepository } from '../../repositories/repository.store.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import { findPolicyFacts } from '../../security/issues/policy-facts.store.ts'
import { NO_CHANGE, type PolicyInput } from './policy-input.schema.ts'

/** What the policies evaluate: a repository with one of its runs and, if any, a deployment. */
type PolicySubject = {
  org_id: string
  repository: string
  branch: string | null
  run: { id: string; attempt: number } | null
  deployment: PolicyInput['deployment']
  environment: PolicyInput['environment']
}

/** Reads the policy input of a subject from the stores of `ci/` and `security/`. */
export async function readPolicyInput(db: Db, subject: PolicySubject, now: Date): Promise<PolicyInput> {
  const { org_id, repository, run, deployment, environment } = subject
  const running = run === null ? null : findRunEvidence(db, { org_id, run_id: run.id, attempt: run.attempt }, now)
  const [evidence, { ref, ...facts }, repositories] = await Promise.all([
    running,
    readSecurity(db, subject, running),
    findByAddress(db, org_id, repository),
  ])
  const [known = null, ...others] = repositories
  const connected = others.length === 0 ? known : null
  const commit = deployment?.commit_sha ?? evidence?.run.commit_sha ?? null
  const [change, alerts, on_tracked_branch] = await Promise.all([
    readChange(db, org_id, connected, commit),
    connected !== null && hasReadAlerts(db, org_id, connected),
    connected !== null && commit !== null && isOnTrackedBranch(db, org_id, connected, commit),
  ])
  const { imported, ...security } = facts
  return {
    now: now.toISOString(),
    repository,
    ...runFacts(evidence),
    ...security,
    evidence: {
      ref,
      tracked_branch: connected?.tracked_branch ?? null,
      on_tracked_branch,
      alerts,
      imported,
      tools: [],
      missing: null,
    },
    ...change,
    deployment,
    environment,
    truncated: evidence === null ? [] : truncatedLists(evidence),
  }
}

/** The ref of a deployment without a branch is that of its run, such as a tag. */
async function readSecurity(db: Db, subject: PolicySubject, running: Promise<RunEvidence | null> | null) {
  const { org_id, repository, branch } = subject
  // A ref is in full where its kind matters: a name alone is that of a branch.
  const ofRun = (await running)?.run.ref ?? null
  const ref = branch ?? (ofRun?.startsWith('refs/') ? ofRun : null)
  return { ref, ...(await findPolicyFacts(db, org_id, repository, ref)) }
}

type RunMembers = Pick<PolicyInput, 'run' | 'attempts' | 'reports' | 'attestations' | 'artifacts'>

function runFacts(evidence: RunEvidence | null): RunMembers {
  if (evidence === null) return { run: null, attempts: [], reports: [], attestations: [], artifacts: [] }
  const { run, attempts, reports, attestations, artifacts } = evidence
  return {
    run: { ...run, branch: parseBranchName(run.ref) },
    attempts,
    reports,
    attestations: attestations.map((attestation) => ({ ...attestation, data: attestation.data ?? {} })),
    artifacts,
  }
}

function isOnTrackedBranch(
  db: Db,
  org_id: string,
  { provider, id: repository_id, tracked_branch }: LinkedRepository,
  commit_sha: string,
): Promise<boolean> {
  return isPushedTo(db, { org_id, provider, repository_id, commit_sha }, tracked_branch)
}

type ChangeMembers = Pick<PolicyInput, 'pull_request' | 'reviews' | 'checks'>

/** What the connected code host of the repository says about a commit. */
async function readChange(
  db: Db,
  org_id: string,
  known: LinkedRepository | null,
  commitSha: string | null,
): Promise<ChangeMembers> {
  if (commitSha === null || known === null) return NO_CHANGE
  const commit = { commit_sha: commitSha, pull_request: null }
  const facts = await findChangeFacts(db, { org_id, provider: known.provider, repository_id: known.id, ...commit })
  return {
    pull_request: toPullRequest(facts),
    reviews: facts.reviews.map(({ reviewer, submitted_at, ...review }) => ({
      ...review,
      reviewer: reviewer?.login ?? null,
      at: submitted_at,
    })),
    checks: facts.checks.map(({ name, source, status, completed_at }) => ({ name, source, status, completed_at })),
  }
}

function toPullRequest({ pull_request: found }: ChangeFacts): PolicyInput['pull_request'] {
  if (found === null) return null
  const { author, base_ref, merged_by, merge_commit_sha: _, ...pullRequest } = found
  const logins = { author: author?.login ?? null, merged_by: merged_by?.login ?? null }
  return { ...pullRequest, ...logins, base_branch: base_ref }
}

function truncatedLists(evidence: RunEvidence): string[] {
  const lists = (['reports', 'attestations', 'artifacts'] as const).filter(
    (name) => evidence[name].length >= EVIDENCE_ITEMS_MAX,
  )
  return evidence.attestations.some(({ data }) => data === null) ? [...lists, 'data'] : lists
}
