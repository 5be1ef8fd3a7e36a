import { readRunEvidence } from '../../ci/evidence/run-evidence.store.ts'
import { EVIDENCE_ITEMS_MAX, type RunEvidence } from '../../ci/evidence/run-evidence.ts'
import type { Db } from '../../platform/db/sql.ts'
import { branchName } from '../../repositories/branch-name.ts'
import { readPolicyFacts } from '../../security/policy-facts/read-policy-facts.ts'
import type { PolicyInput } from './policy-input.schema.ts'

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
  const { org_id, repository, branch, run, deployment, environment } = subject
  const [evidence, security] = await Promise.all([
    run === null ? null : readRunEvidence(db, { org_id, run_id: run.id, attempt: run.attempt }, now),
    readPolicyFacts(db, org_id, repository, branch),
  ])
  return {
    now: now.toISOString(),
    repository,
    ...runFacts(evidence),
    ...security,
    deployment,
    environment,
    truncated: evidence === null ? [] : truncatedLists(evidence),
  }
}

type RunMembers = Pick<PolicyInput, 'run' | 'attempts' | 'reports' | 'attestations' | 'artifacts'>

function runFacts(evidence: RunEvidence | null): RunMembers {
  if (evidence === null) return { run: null, attempts: [], reports: [], attestations: [], artifacts: [] }
  const { run, attempts, reports, attestations, artifacts } = evidence
  return {
    run: { ...run, branch: branchName(run.ref) },
    attempts,
    reports,
    attestations: attestations.map((attestation) => ({ ...attestation, data: attestation.data ?? {} })),
    artifacts,
  }
}

function truncatedLists(evidence: RunEvidence): string[] {
  const lists = (['reports', 'attestations', 'artifacts'] as const).filter(
    (name) => evidence[name].length >= EVIDENCE_ITEMS_MAX,
  )
  return evidence.attestations.some(({ data }) => data === null) ? [...lists, 'data'] : lists
}
