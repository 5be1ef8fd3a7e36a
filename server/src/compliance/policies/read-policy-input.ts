import { type ChangeFacts, findChangeFacts, isPushedTo } from '../../ci/changes/change-facts.store.ts'
import {
  EVIDENCE_ITEMS_MAX,
  type Scope,
  type SelectedEvidence,
  selectEvidence,
} from '../../ci/evidence/evidence-scope.ts'
import {
  type CommitEvidence,
  type EvidenceContent,
  findCommitEvidence,
  findEvidenceContent,
} from '../../ci/evidence/run-evidence.store.ts'
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

/**
 * What a policy is asked with. Of several inputs the worst answer counts: one has only what may be
 * good news, another also the bad news of other refs (ci-evidence §3).
 */
export type ScopedInput = {
  inputs: [PolicyInput, ...PolicyInput[]]
  /** Why older reports of a job count beside newer ones. */
  notes: string[]
}

/** Returns the input for policies of one scope. What they share is read once. */
export type PolicyInputs = (scope: Scope) => Promise<ScopedInput>

/** Reads the policy inputs of a subject from the stores of `ci/` and `security/`. */
export function readPolicyInputs(db: Db, subject: PolicySubject, now: Date): PolicyInputs {
  const shared = readShared(db, subject, now)
  // Whoever asks for an input hears of the error.
  shared.catch(() => undefined)
  const known = new Map<Scope, Promise<ScopedInput>>()
  return (scope) => {
    const input = known.get(scope) ?? shared.then((found) => readScoped(db, subject, found, scope))
    known.set(scope, input)
    return input
  }
}

type Shared = { found: CommitEvidence; common: Promise<CommonInput>; refs: Parameters<typeof selectEvidence>[2] }
type CommonInput = Omit<PolicyInput, 'reports' | 'attestations' | 'artifacts' | 'truncated'>

/** What all scopes share; `common` is read while the evidence is selected. */
async function readShared(db: Db, subject: PolicySubject, now: Date): Promise<Shared> {
  const { org_id, repository, run, deployment, environment } = subject
  const commit_sha = deployment?.commit_sha ?? null
  const running = findCommitEvidence(db, { org_id, run, repository, commit_sha }, now)
  const [found, { ref, ...facts }, repositories] = await Promise.all([
    running,
    readSecurity(db, subject, running),
    findByAddress(db, org_id, repository),
  ])
  const [known = null, ...others] = repositories
  const connected = others.length === 0 ? known : null
  const tracked_branch = connected?.tracked_branch ?? null
  const { imported, ...security } = facts
  const readCommon = async (): Promise<CommonInput> => {
    const { on_tracked_branch, alerts, ...change } = await readHostFacts(
      db,
      org_id,
      connected,
      commit_sha ?? found.run?.commit_sha ?? null,
    )
    return {
      now: now.toISOString(),
      repository,
      run: found.run && { ...found.run, branch: parseBranchName(found.run.ref) },
      attempts: found.attempts,
      ...security,
      evidence: { ref, tracked_branch, on_tracked_branch, alerts, imported, tools: [], missing: null },
      ...change,
      deployment,
      environment,
    }
  }
  const common = readCommon()
  common.catch(() => undefined)
  return { found, common, refs: { ref, tracked_branch } }
}

async function readHostFacts(db: Db, org_id: string, connected: LinkedRepository | null, commit: string | null) {
  const [change, alerts, on_tracked_branch] = await Promise.all([
    readChange(db, org_id, connected, commit),
    connected !== null && hasReadAlerts(db, org_id, connected),
    connected !== null && commit !== null && isOnTrackedBranch(db, org_id, connected, commit),
  ])
  return { ...change, alerts, on_tracked_branch }
}

async function readScoped(
  db: Db,
  { org_id }: PolicySubject,
  { found, common, refs }: Shared,
  scope: Scope,
): Promise<ScopedInput> {
  const { views, notes } = selectEvidence(found, scope, refs)
  const [good] = views
  // The last view has everything that the others have, and failures first.
  const content = await findEvidenceContent(db, org_id, {
    attestations: (views.at(-1) ?? good).attestations.map(({ id }) => id),
    reports: good.reports.map(({ id }) => id),
  })
  const rest = await common
  const toInput = (view: SelectedEvidence) => toPolicyInput(found, rest, view, content)
  const [first, ...others] = views
  return { inputs: [toInput(first), ...others.map(toInput)], notes }
}

function toPolicyInput(
  { own, runs, reports: all }: CommitEvidence,
  common: CommonInput,
  { reports, attestations, cut }: SelectedEvidence,
  { data, artifacts }: EvidenceContent,
): PolicyInput {
  const pipelines = new Map(runs.map(({ id, pipeline }) => [id, pipeline]))
  const byId = new Map(all.map((report) => [report.id, report]))
  const getPlace = (reportId: string) => {
    const { run_id = '', attempt = 0, job = '' } = byId.get(reportId) ?? {}
    return { run_id, attempt, pipeline: pipelines.get(run_id) ?? '', job, same_run: run_id === own?.run_id }
  }
  const lists = { reports, attestations, artifacts }
  const full = (['reports', 'attestations', 'artifacts'] as const).filter(
    (name) => lists[name].length >= EVIDENCE_ITEMS_MAX,
  )
  const isShort = attestations.some(({ id }) => data[id] === undefined)
  return {
    ...common,
    reports: reports.map(({ key: _, retries: __, ...report }) => ({ ...report, ...getPlace(report.id) })),
    attestations: attestations.map(({ id, ...attestation }) => ({
      ...attestation,
      ...getPlace(attestation.report_id),
      data: data[id] ?? {},
    })),
    artifacts: artifacts.map((artifact) => ({ ...artifact, ...getPlace(artifact.report_id) })),
    evidence: { ...common.evidence, ...(cut.length > 0 && { truncated: cut }) },
    truncated: isShort ? [...full, 'data'] : full,
  }
}

/** The ref of a deployment without a branch is that of its run, such as a tag. */
async function readSecurity(db: Db, subject: PolicySubject, running: Promise<CommitEvidence>) {
  const { org_id, repository, branch } = subject
  const ref = branch ?? (await readFullRef(running))
  return { ref, ...(await findPolicyFacts(db, org_id, repository, ref)) }
}

/** A ref is in full where its kind matters: a name alone is that of a branch. */
async function readFullRef(running: Promise<CommitEvidence>): Promise<string | null> {
  const ref = (await running).run?.ref ?? null
  return ref?.startsWith('refs/') ? ref : null
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
