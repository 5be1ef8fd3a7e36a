import type { Schema } from '../../api/client.ts'

type Exposure = Schema<'Exposure'>
type Occurrence = Schema<'ComponentOccurrence'>

/** Who sent a document (docs/inventory.md, "Where a vulnerability runs"). */
export const LANE_NAMES: Record<Occurrence['lane'], string> = {
  verified: 'Sent by a run, verified by its token',
  key: 'Sent with an API key',
  person: 'Uploaded by a person',
  untrusted: 'Sent by an untrusted job: no evidence of what runs',
}

/** How the contents of a deployment are known. */
const EVIDENCE: Record<Exposure['affected'][number]['evidence'], string> = {
  digest: 'A bill of materials of the deployed image or file',
  commit: 'A bill of materials of the deployed commit',
  inferred: 'Inferred from an earlier commit of the branch',
}

type Reason = Exposure['unknown'][number]['reason']

/** Why it is not known whether a deployment is affected, and what to do. */
export const UNKNOWN_REASONS: Record<Reason, { label: string; todo: string }> = {
  no_sbom: {
    label: 'No bill of materials',
    todo: 'Send one of the deployed commit: in the job that builds, with its commit.',
  },
  sbom_older_than_deployment: {
    label: 'Only earlier commits have a bill of materials',
    todo: 'Send one of the deployed commit: in the job that builds, with its commit.',
  },
  unreadable_sbom: {
    label: 'The bill of materials was not read whole',
    todo: 'Look at its upload, which failed or left components out.',
  },
  type_not_covered: {
    label: 'The documents do not cover this kind of package',
    todo: 'Send a document with packages of this kind, for example one of the image.',
  },
  unknown_version: {
    label: 'The version cannot be compared',
    todo: 'The component has no version, or one without an order. Check it by hand.',
  },
  no_release: {
    label: 'The release of the distribution is not stated',
    todo: 'Use a tool that states the distribution in its package URLs.',
  },
  unsupported_ecosystem: {
    label: 'Advisories of this ecosystem are not evaluated',
    todo: 'Use a scanner that covers it, and send its report.',
  },
  no_advisory: {
    label: 'No advisory says which packages are affected',
    todo: 'Import the OSV records of the ecosystem.',
  },
}

/** Why deployments are not affected, in the order in which they are shown. */
const NOT_AFFECTED: Record<keyof Exposure['not_affected'], string> = {
  not_present: 'without the package',
  version: 'with a version that is not affected',
  vex: 'by a VEX statement',
  false_positive: 'dismissed as false positive',
  used_in_tests: 'dismissed as used in tests',
  mitigated: 'mitigated or patched',
  withdrawn: 'because the advisory was withdrawn',
}

/** The reasons why deployments are not affected, each with its count: “2 without the package”. */
export function notAffectedReasons(counts: Exposure['not_affected']): string[] {
  return (Object.keys(NOT_AFFECTED) as (keyof typeof NOT_AFFECTED)[])
    .filter((reason) => counts[reason] > 0)
    .map((reason) => `${counts[reason]} ${NOT_AFFECTED[reason]}`)
}

/** The answer in one sentence. What is not known is never fine. */
export function summaryOf({ live_deployments: live, affected, unknown }: Exposure['counts']): string {
  if (live === 0) return 'No deployment runs, as far as Shiplock knows. So nothing can be said about what runs.'
  const all = live === 1 ? 'the 1 deployment that runs' : `the ${live} deployments that run`
  const rest = unknown === 0 ? '' : ` It is not known for ${unknown} more.`
  if (affected > 0) return `${affected} of ${all} ${affected === 1 ? 'is' : 'are'} affected.${rest}`
  if (unknown === live)
    return live === 1
      ? `It is not known whether ${all} is affected.`
      : `It is not known of any of ${all} whether it is affected.`
  if (unknown > 0) return `None of ${all} is known to be affected, but for ${unknown} it is not known.`
  return live === 1 ? 'The 1 deployment that runs is not affected.' : `None of ${all} is affected.`
}

/** How it is known that a deployment has a component, in words. */
export function evidenceText({ evidence, lane }: Pick<Exposure['affected'][number], 'evidence' | 'lane'>): string {
  if (lane === null) return 'Reported by a scanner'
  return `${EVIDENCE[evidence]}. ${LANE_NAMES[lane]}`
}

/** Whether a component is a direct dependency, as documents state it. */
export function directText(direct: boolean | null): string {
  if (direct === null) return 'Not stated'
  return direct ? 'Direct' : 'Transitive'
}
