import { branchName } from '../repositories/branch-name.ts'
import { readRunEvidence } from '../ci/evidence/run-evidence.store.ts'
import { EVIDENCE_ITEMS_MAX, type RunEvidence } from '../ci/evidence/run-evidence.ts'
import type { Db } from '../platform/db/sql.ts'
import { readPolicyFacts } from '../security/policy-facts/read-policy-facts.ts'
import type { PolicyInput } from './policy-input.schema.ts'

/** What is to be judged: a repository as a run of it says it stands, and where that is to be deployed. */
export type PolicySubject = {
  org_id: string
  repository: string
  branch: string | null
  run: { id: string; attempt: number } | null
  deployment: PolicyInput['deployment']
  environment: PolicyInput['environment']
}

/** Gathers everything that policies decide by, in a few round trips. */
export async function readPolicyInput(db: Db, subject: PolicySubject, now: Date): Promise<PolicyInput> {
  const { org_id, repository, branch, run, deployment, environment } = subject
  const [evidence, security] = await Promise.all([
    run === null ? null : readRunEvidence(db, org_id, run.id, run.attempt, now),
    readPolicyFacts(db, org_id, repository, branch),
  ])
  return {
    now: now.toISOString(),
    repository,
    ...runFacts(evidence),
    ...security,
    deployment,
    environment,
    truncated: evidence === null ? [] : cutOff(evidence),
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

function cutOff(evidence: RunEvidence): string[] {
  const lists = (['reports', 'attestations', 'artifacts'] as const).filter(
    (name) => evidence[name].length >= EVIDENCE_ITEMS_MAX,
  )
  return evidence.attestations.some(({ data }) => data === null) ? [...lists, 'data'] : lists
}
