import { hash } from 'node:crypto'
import packageJson from '../../../package.json' with { type: 'json' }
import { formatCloneAddress } from '../../codehosts/catalogue.ts'
import {
  getVerdict,
  type PathLanes,
  type PromotedDeployment,
  type PromotionPath,
  type Verdict,
} from '../../deployments/promotion.ts'
import { toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import { getApprovals, isByAuthor } from '../changes/approvals.ts'
import type { ChangeRecord, Deviation } from '../changes/change-record.ts'
import { getSubjects } from './promotion-path.ts'
import type { StatementContent } from './statement-content.ts'

const VERIFIER = { id: 'https://shiplock.dev/verifier/v1', version: { shiplock: packageJson.version } }

/** An attestation that a summary was made from. */
export type InputAttestation = { uri: string; digest: { sha256: string } }

/**
 * What determines a summary: the record by the digest of its statement, the path by its own digest,
 * and the answers of gates and policies. The version of the server and the addresses of the inputs
 * do not: an issued summary keeps its bytes after an upgrade, and at another base URL.
 */
export function getSummaryFacts(deployment: DigestedPath, inputs: InputAttestation[]) {
  return { ...getEarlierFacts(deployment, inputs), ...getVerdict(deployment), lanes_sha256: deployment.lanes_sha256 }
}

type DigestedPath = PromotedDeployment & { path_sha256: string; lanes_sha256: string }

/** What determined a summary in versions without lanes: what they have issued keeps its bytes. */
export function getEarlierFacts(deployment: DigestedPath, inputs: InputAttestation[]) {
  const { address, environment, commit_sha, path_sha256 } = deployment
  const digests = inputs.map(({ digest }) => digest.sha256)
  const verdict = getVerdict({ ...deployment, accepts_any_trust: false })
  return { address, environment, commit_sha, path_sha256, ...verdict, inputs: digests }
}

type Verified = {
  deployment: PromotedDeployment & { path: PromotionPath; lanes: PathLanes }
  record: ChangeRecord
  inputs: InputAttestation[]
  issuedAt: Date
}

/** The verification summary of a deployment (SLSA 1.2, "Verification Summary Attestation"). */
export function toSummaryContent({ deployment, record, inputs, issuedAt }: Verified): StatementContent {
  const verdict = getVerdict(deployment)
  return {
    subject: getSubjects(deployment),
    predicateType: 'https://slsa.dev/verification_summary/v1',
    predicate: {
      verifier: VERIFIER,
      timeVerified: issuedAt.toISOString(),
      resourceUri: resourceUri(deployment),
      policy: { uri: 'https://shiplock.dev/policies/v1', digest: { sha256: policyDigest(deployment.path) } },
      inputAttestations: inputs,
      verificationResult: verdict.failed ? 'FAILED' : 'PASSED',
      verifiedLevels: verdict.failed ? ['FAILED'] : getLevels(verdict, record, deployment.commit_sha),
      slsaVersion: '1.2',
    },
  }
}

function resourceUri({ address, environment }: PromotedDeployment): string {
  return `git+https://${formatCloneAddress(address)}?environment=${encodeURIComponent(environment)}`
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

/** Levels of the source track (SLSA 1.2, "Source: Requirements for producing source"). */
type SourceLevel = 1 | 2 | 3 | 4

/**
 * The highest level that the record of a change supports for a commit that it names:
 *
 * 1. The revision is in a version control system. Every record shows it.
 * 2. History and provenance: the branch is protected against force pushes and deletion, and this
 *    change did not rewrite it. The record itself is the provenance: it was written when the change
 *    landed, and names accounts that the host has authenticated.
 * 3. Continuous technical controls: the branch requires a pull request, and the change went through
 *    one without bypassing a rule, without a failed check, and without an unsigned commit where
 *    signatures are required.
 * 4. Two-party review: the branch requires an approval, and somebody who did not write the change
 *    approved its last commit.
 *
 * Everything that is unknown counts as missing: without known branch rules the level is 1, and
 * without a complete list of commits of known authors at most 3. Only the commit that the change
 * ends with was protected by the rules of the branch: the level of its other commits is 1.
 */
export function computeSourceLevel(record: ChangeRecord, sha: string): SourceLevel {
  if (sha !== record.commits.merge || !hasContinuity(record)) return 1
  if (!hasControls(record)) return 2
  return hasTwoParties(record) ? 4 : 3
}

function hasContinuity({ branch_rules: rules, forced }: ChangeRecord): boolean {
  return rules?.blocks_force_pushes === true && rules.blocks_deletion && !forced
}

const WITHOUT_CONTROL: readonly Deviation[] = ['direct_push', 'bypassed_protection', 'check_failed']

function hasControls({ branch_rules: rules, pull_request, deviations }: ChangeRecord): boolean {
  if (rules === null || pull_request === null || !rules.requires_pull_request) return false
  const isUnsigned = rules.requires_signatures && deviations.includes('unsigned_commit')
  return !isUnsigned && !deviations.some((deviation) => WITHOUT_CONTROL.includes(deviation))
}

function hasTwoParties(record: ChangeRecord): boolean {
  const { branch_rules: rules, commits, pull_request } = record
  const isKnown =
    pull_request?.author != null && commits.complete && commits.list.every(({ author }) => author.id !== null)
  return rules !== null && rules.required_approvals >= 1 && isKnown && hasApproval(record)
}

/**
 * True if the commit is what the reviewers have seen or what the change ends with, and the change
 * was merged with a standing approval of its last commit by somebody who did not write it.
 * Approvals of bots do not count.
 */
export function isReviewed(record: ChangeRecord, sha: string): boolean {
  return [record.commits.head, record.commits.merge].includes(sha) && hasApproval(record)
}

function hasApproval(record: ChangeRecord): boolean {
  return getApprovals(record).some(
    (review) => !review.stale && review.reviewer?.is_bot === false && !isByAuthor(review, record),
  )
}
