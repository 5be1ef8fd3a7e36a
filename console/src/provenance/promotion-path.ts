import { fromBase64 } from './verify/bytes.ts'
import type { SignedStatement } from './verify/envelope.ts'

// The parts of the predicates that the page shows (docs/provenance/promotion-path.v1.schema.json).

export type PromotedDeployment = {
  id: string
  environment: string
  status: string
  run: { id: string; attempt: number } | null
  gates: { id: string; name: string; approved_at: string | null; approved_by: 'policies' | 'principals' | null }[]
  approvals: { decision: 'approved' | 'rejected'; principal: { name: string }; reason: string; at: string }[]
  override: { by: string | null; reason: string; at: string } | null
  bypass: { actor: string | null; at: string } | null
  created_at: string
  deployed_at: string | null
}

type PromotedRun = { id: string; pipeline_name: string; attempts: { number: number; status: string }[] }

export type PromotionPath = {
  repository: { full_name: string }
  commit: string
  change: { id: string; record: { pull_request: { title: string } | null; deviations: string[] } | null } | null
  runs: PromotedRun[]
  artifacts: { path: string; sha256: string }[]
  artifacts_omitted: number
  earlier_deployments: PromotedDeployment[]
  deployment: PromotedDeployment
}

/** The result of the server's own verification (SLSA verification summary). */
export type VerificationSummary = { verificationResult: 'PASSED' | 'FAILED'; verifiedLevels: string[] }

/** What a statement says. Does not verify it. */
export function predicateOf<Predicate>({ envelope }: SignedStatement): Predicate {
  const bytes = fromBase64(envelope.payload) ?? new Uint8Array()
  return JSON.parse(new TextDecoder().decode(bytes)).predicate
}
