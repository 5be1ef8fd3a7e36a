import { hash } from 'node:crypto'
import packageJson from '../../../package.json' with { type: 'json' }
import { getVerdict, type PromotedDeployment, type PromotionPath, type Verdict } from '../../deployments/promotion.ts'
import { toCanonicalJson } from '../../platform/json/canonical-json.ts'
import type { ChangeRecord } from '../changes/change-record.ts'
import type { StatementContent } from './in-toto-statement.ts'
import { getSubjects } from './promotion-path.ts'
import { computeSourceLevel, isReviewed } from './source-level.ts'

const VERIFIER = { id: 'https://shiplock.dev/verifier/v1', version: { shiplock: packageJson.version } }

/** An attestation that a summary was made from. */
export type InputAttestation = { uri: string; digest: { sha256: string } }

/**
 * What determines a summary: the record by the digest of its statement, the path by its own digest,
 * and the answers of gates and policies. The version of the server and the addresses of the inputs
 * do not: an issued summary keeps its bytes after an upgrade, and at another base URL.
 */
export function getSummaryFacts(deployment: PromotedDeployment & { path_sha256: string }, inputs: InputAttestation[]) {
  const { address, environment, commit_sha, path_sha256 } = deployment
  const digests = inputs.map(({ digest }) => digest.sha256)
  return { address, environment, commit_sha, path_sha256, ...getVerdict(deployment), inputs: digests }
}

type Verified = {
  deployment: PromotedDeployment
  path: PromotionPath
  record: ChangeRecord
  inputs: InputAttestation[]
  issuedAt: Date
}

/** The verification summary of a deployment (SLSA 1.2, "Verification Summary Attestation"). */
export function toSummaryContent({ deployment, path, record, inputs, issuedAt }: Verified): StatementContent {
  const verdict = getVerdict(deployment)
  return {
    subject: getSubjects(deployment, path),
    predicateType: 'https://slsa.dev/verification_summary/v1',
    predicate: {
      verifier: VERIFIER,
      timeVerified: issuedAt.toISOString(),
      resourceUri: resourceUri(deployment),
      policy: { uri: 'https://shiplock.dev/policies/v1', digest: { sha256: policyDigest(path) } },
      inputAttestations: inputs,
      verificationResult: verdict.failed ? 'FAILED' : 'PASSED',
      verifiedLevels: verdict.failed ? ['FAILED'] : getLevels(verdict, record, deployment.commit_sha),
      slsaVersion: '1.2',
    },
  }
}

function resourceUri({ address, environment }: PromotedDeployment): string {
  return `git+https://${address}?environment=${encodeURIComponent(environment)}`
}

/**
 * SHA-256 of the canonical list of the policies that were evaluated last, in the order in which the
 * promotion path states them. Without policies it is the digest of the empty list.
 */
function policyDigest({ deployment: { policies: evaluation } }: PromotionPath): string {
  const versions = (evaluation?.policies ?? []).map(({ id, version, sha256 }) => ({ id, version, sha256 }))
  return hash('sha256', toCanonicalJson(versions), 'hex')
}

function getLevels({ policies_passed, gated }: Verdict, record: ChangeRecord, sha: string): string[] {
  return [
    ...(isReviewed(record, sha) ? ['SHIPLOCK_REVIEWED'] : []),
    ...(policies_passed ? ['SHIPLOCK_POLICY_PASSED'] : []),
    ...(gated ? ['SHIPLOCK_GATED'] : []),
    `SLSA_SOURCE_LEVEL_${computeSourceLevel(record, sha)}`,
  ]
}
