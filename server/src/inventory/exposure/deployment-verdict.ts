import type { Lane } from '../../ci/runs/trust.ts'
import type { MarkLane } from '../../deployments/deployment-mark.ts'
import { DISTRIBUTION_TYPES } from '../../security/vocabulary/package-url.ts'
import { findEcosystem } from '../advisories/ecosystems.ts'
import { OPERATING_SYSTEM, type UnknownComponent, type VulnerabilityQuestion } from './component-verdict.ts'
import type { CandidateFacts, EvidenceDocument } from './evidence.store.ts'

/** Why nobody knows whether a deployment is affected (decisions §11). */
export const UNKNOWN_REASONS = [
  ...['no_sbom', 'unreadable_sbom', 'sbom_older_than_deployment', 'type_not_covered'],
  ...['unknown_version', 'no_release', 'unsupported_ecosystem', 'no_advisory'],
] as const
export type UnknownReason =
  | UnknownComponent
  | 'no_sbom'
  | 'unreadable_sbom'
  | 'sbom_older_than_deployment'
  | 'type_not_covered'
  | 'no_advisory'

/** Why a deployment is not affected. */
export const NOT_AFFECTED_REASONS = [
  'not_present',
  'version',
  'vex',
  'false_positive',
  'used_in_tests',
  'mitigated',
  'withdrawn',
] as const
export type NotAffectedReason = (typeof NOT_AFFECTED_REASONS)[number]

/** A document with those of its components that the advisories name. */
export type ReadDocument = Omit<EvidenceDocument, 'deployment_id'> & {
  components: readonly { facts: CandidateFacts; direct: boolean | null }[]
}

/** A component that is affected, and the document that says that it is there. */
export type AffectedComponent = {
  facts: CandidateFacts
  direct: boolean | null
  evidence: EvidenceDocument['evidence']
  lane: Lane
  fixed_version: string | null
}

export type DeploymentVerdict =
  | { verdict: 'affected'; components: AffectedComponent[] }
  | { verdict: 'not_affected'; reason: NotAffectedReason }
  | { verdict: 'unknown'; reason: UnknownReason; subjects?: { name: string; sha256: string }[] }

export type DeploymentQuestion = {
  vulnerability: VulnerabilityQuestion
  /** All of one kind of evidence. */
  documents: readonly ReadDocument[]
  /** Whether a document about its commit could not be read. */
  isUnreadable: boolean
  /** Whether excluded components count. */
  countsExcluded: boolean
  /** Why a component that is affected was dismissed; null if it was not. */
  getDismissal(component: AffectedComponent): NotAffectedReason | null
}

/** Something that is deployed, by its digest. */
export type DeployedDigest = {
  name: string
  sha256: string
  /** Its own digest and those of the manifests of its platforms. */
  digests: readonly string[]
  /** Who said that it is deployed. */
  trust: MarkLane
  /** The documents about it or a manifest of it. */
  documents: readonly ReadDocument[]
}

/** What is evaluated by itself: a subject, or without one all that the commit has. */
export type EvidenceUnit = { subject: { name: string; sha256: string } | null; documents: readonly ReadDocument[] }

/** The lane in which documents of the same sender are. */
const LANE_OF: Record<MarkLane, Lane> = {
  verified: 'verified',
  self_reported: 'key',
  ui: 'person',
  untrusted: 'untrusted',
}

/**
 * The evidence of each subject of a deployment (inventory §8.6): documents about its digest, else
 * those of the commit that name no other digest. Nobody weaker displaces what was said of the
 * commit (§8.1): then both count. Subjects that strangers have stated do not count.
 */
export function selectUnits(subjects: readonly DeployedDigest[], ofCommit: readonly ReadDocument[]): EvidenceUnit[] {
  const counted = subjects.filter(({ trust }) => trust !== 'untrusted')
  if (counted.length === 0) return [{ subject: null, documents: ofCommit }]
  const deployed = new Set(counted.flatMap(({ digests }) => digests))
  const rest = ofCommit.filter(
    ({ digests, versions }) => digests.length === 0 && !versions.some((version) => deployed.has(version)),
  )
  const rank = Math.min(...rest.map(({ lane, evidence }) => (evidence === 'commit' ? RANKS[lane] : Infinity)))
  const units = counted.map(({ name, sha256, trust, documents }) => {
    const weakest = Math.max(RANKS[LANE_OF[trust]], Math.min(...documents.map(({ lane }) => RANKS[lane])))
    return {
      subject: { name, sha256 },
      documents: documents.length > 0 ? documents : rest,
      isDisplaced: weakest <= rank,
    }
  })
  const shown = units.map(({ subject, documents }) => ({ subject, documents }))
  if (rest.length === 0 || rank === Infinity || units.every(({ isDisplaced }) => isDisplaced)) return shown
  return [...shown, { subject: null, documents: rest }]
}

/** `key` and `person` are neither weaker nor stronger than each other. */
const RANKS: Record<Lane, number> = { verified: 0, key: 1, person: 1, untrusted: 2 }

/**
 * Whether a deployment is affected, by the documents that are evidence of it. What the strongest
 * senders say of it is its contents; others can only add what is affected. Documents about other
 * commits, and those of people alone, show what is affected and never that nothing is (trust §1).
 */
export function evaluateDeployment(question: DeploymentQuestion): DeploymentVerdict {
  const { documents, isUnreadable } = question
  const strongest = Math.min(...documents.map(({ lane }) => RANKS[lane]))
  const own = documents.filter(({ lane }) => RANKS[lane] === strongest)
  const found = collectComponents(question, own)
  const added = collectComponents(
    question,
    documents.filter((document) => !own.includes(document)),
  )
  const components = mergeComponents([...found.affected, ...added.affected])
  if (components.length > 0) return { verdict: 'affected', components }
  if (own.length === 0) return { verdict: 'unknown', reason: isUnreadable ? 'unreadable_sbom' : 'no_sbom' }
  if (own.some(({ evidence }) => evidence === 'inferred'))
    return { verdict: 'unknown', reason: isUnreadable ? 'unreadable_sbom' : 'sbom_older_than_deployment' }
  if (own.every(({ lane }) => lane === 'person')) return { verdict: 'unknown', reason: 'no_sbom' }
  if (own.some(({ is_cut }) => is_cut)) return { verdict: 'unknown', reason: 'unreadable_sbom' }
  const reason = found.unknown ?? findUncovered(question.vulnerability, own)
  if (reason !== null) return { verdict: 'unknown', reason }
  return { verdict: 'not_affected', reason: found.notAffected ?? 'not_present' }
}

/**
 * Whether a deployment of several units is affected: if one is. It is known not to be if that is
 * known of all.
 */
export function mergeVerdicts(said: readonly (DeploymentVerdict & Pick<EvidenceUnit, 'subject'>)[]): DeploymentVerdict {
  const affected = said.flatMap((one) => (one.verdict === 'affected' ? one.components : []))
  if (said.some(({ verdict }) => verdict === 'affected'))
    return { verdict: 'affected', components: mergeComponents(affected) }
  const unknown = said.filter((one) => one.verdict === 'unknown')
  const [first] = unknown
  if (first === undefined) return said[0] as DeploymentVerdict
  const subjects = unknown.flatMap(({ subject }) => subject ?? [])
  return { verdict: 'unknown', reason: first.reason, ...(subjects.length > 0 && { subjects }) }
}

type Found = {
  affected: AffectedComponent[]
  unknown: UnknownComponent | null
  notAffected: NotAffectedReason | null
}

function collectComponents(question: DeploymentQuestion, documents: readonly ReadDocument[]): Found {
  const { vulnerability, countsExcluded, getDismissal } = question
  const found: Found = { affected: [], unknown: null, notAffected: null }
  for (const { components, operating_system, evidence, lane } of documents)
    for (const { facts, direct } of components) {
      if (facts.scope === 'excluded' && !countsExcluded) continue
      const said = vulnerability.evaluate(facts, operating_system)
      if (said === null) continue
      if (said.verdict === 'affected') {
        const component = { facts, direct, evidence, lane, fixed_version: said.fixed_version }
        const reason = vulnerability.isPatched(facts) ? 'mitigated' : getDismissal(component)
        if (reason === null) found.affected.push(component)
        else found.notAffected = reason
      } else if (said.verdict === 'version') found.notAffected ??= 'version'
      else if (said.verdict === 'withdrawn')
        found.notAffected = found.notAffected === 'version' ? 'withdrawn' : (found.notAffected ?? 'withdrawn')
      else found.unknown ??= said.verdict
    }
  return found
}

/** One entry for each component: that of the strongest sender, and of those the first. */
function mergeComponents(components: readonly AffectedComponent[]): AffectedComponent[] {
  const merged = new Map<number, AffectedComponent>()
  for (const component of components) {
    const { component_no } = component.facts
    if (!merged.has(component_no)) merged.set(component_no, component)
  }
  return [...merged.values()].sort((a, b) => a.facts.component_no - b.facts.component_no)
}

/**
 * A document says something about the kinds of packages that it contains. Packages of a
 * distribution that has no advisories here are not covered by it.
 */
function findUncovered(vulnerability: VulnerabilityQuestion, documents: readonly ReadDocument[]): UnknownReason | null {
  const types = new Set(documents.flatMap(({ package_types }) => package_types))
  const hasSystem = documents.some(({ operating_system }) => operating_system !== null)
  for (const kind of vulnerability.package_types) {
    if (kind !== OPERATING_SYSTEM) {
      if (!types.has(kind)) return 'type_not_covered'
      continue
    }
    const distributions = [...types].filter((type) => DISTRIBUTION_TYPES.has(type.split('/')[0] ?? ''))
    if (distributions.length === 0) {
      if (!hasSystem) return 'type_not_covered'
      continue
    }
    const parts = distributions.map((name) => name.split('/'))
    if (parts.some(([type = '', namespace = null]) => findEcosystem(type, namespace) === null))
      return 'unsupported_ecosystem'
  }
  return null
}
