import type { Fields } from '../fields.ts'
import { describeBreaks, describeDeviations, describeReviews } from './describe-change.ts'

/** Describes the predicate of a promotion path: what was deployed where, and who approved it. */
export function describePath(predicate: Fields): string[] {
  const repository = predicate.object('repository')
  const name = `${repository.string('host')}/${repository.string('full_name')}`
  return [
    `Commit ${predicate.string('commit')} of ${name}.`,
    ...(predicate.has('change')
      ? describeChangeOfPath(predicate.object('change'))
      : ['The statement names no change record of the commit.']),
    ...predicate.objects('runs').map(describeRun),
    ...predicate.objects('artifacts').map(describeArtifact),
    ...(predicate.has('amendments') ? predicate.objects('amendments').map(describeAmendment) : []),
    ...predicate.objects('earlier_deployments').flatMap((step) => describeStep(step, 'Earlier deployment')),
    ...describeStep(predicate.object('deployment'), 'This deployment'),
    ...OMITTED.flatMap(([field, what]) => describeOmitted(predicate, field, what)),
  ]
}

function describeChangeOfPath(change: Fields): string[] {
  const id = change.string('id')
  if (!change.has('record')) return [`Change ${id}. Its record cannot be stated any more.`, ...describeBreaks(change)]
  const record = change.object('record')
  const landed = `Change ${id} landed at ${record.string('landed_at')} as ${record.string('merge_sha')}.`
  const deviations = describeDeviations(record.strings('deviations'))
  return [landed, ...describeReviews(record.objects('reviews')), deviations, ...describeBreaks(change)]
}

function describeRun(run: Fields): string {
  const attempts = run
    .objects('attempts')
    .map((attempt) => `attempt ${attempt.count('number')} ${attempt.string('status')}`)
  const trust = run.string('trust')
  const source = trust === 'verified' ? '' : ` (${trust.replace('_', '-')})`
  return `Run ${run.string('id')} of ${textOf(run, 'pipeline_name')}${source}: ${attempts.join(', ') || 'no attempt'}.`
}

function describeArtifact(artifact: Fields): string {
  return `Artifact ${artifact.string('path')}: sha256:${artifact.string('sha256')}${describeTrust(artifact)}.`
}

/** Statements of earlier versions do not say who stated an artifact. */
function describeTrust(artifact: Fields): string {
  const trust = artifact.has('trust') ? artifact.string('trust') : 'verified'
  return trust === 'verified' ? '' : ` (${trust.replace('_', '-')})`
}

function describeAmendment(amendment: Fields): string {
  const artifact = amendment.object('artifact')
  const what = `${artifact.string('path')}: sha256:${artifact.string('sha256')}${describeTrust(artifact)}`
  return `Added later, at ${amendment.string('at')}: artifact ${what}.`
}

function describeStep(step: Fields, what: string): string[] {
  const at = step.has('deployed_at') ? `deployed at ${step.string('deployed_at')}` : 'not deployed'
  const trust = step.string('trust') === 'verified' ? '' : ', self-reported'
  return [
    `${what} ${step.string('id')} to ${step.string('environment')}: ${step.string('status')}, ${at}${trust}.`,
    ...step.objects('approvals').map(describeApproval),
    ...step.objects('reviews').map((review) => `  ${review.string('reviewer')}: ${review.string('state')}.`),
    ...(step.has('policies') ? step.object('policies').objects('policies').map(describePolicy) : []),
    ...(step.has('override') ? [describeOverride(step.object('override'))] : []),
    ...(step.has('bypass') ? [describeBypass(step.object('bypass'))] : []),
  ]
}

function describeApproval(approval: Fields): string {
  const principal = approval.object('principal')
  const who = `${principal.string('type').replaceAll('_', ' ')} "${principal.string('name')}"`
  return `  ${approval.string('decision')} by ${who} at ${approval.string('at')}: "${textOf(approval, 'reason')}".`
}

function describePolicy(policy: Fields): string {
  return `  Policy ${policy.string('name')}, version ${policy.count('version')} (${policy.string('mode')}): ${policy.string('decision')}.`
}

function describeOverride(override: Fields): string {
  return `  Policies overridden by ${textOf(override, 'by')} at ${override.string('at')}: "${textOf(override, 'reason')}".`
}

function describeBypass(bypass: Fields): string {
  return `  Bypassed by ${textOf(bypass, 'actor')} at ${bypass.string('at')}: ${bypass.strings('gates').join(', ')}.`
}

/** Long lists are cut when the statement is made. */
const OMITTED: [field: string, what: string][] = [
  ['runs_omitted', 'runs'],
  ['artifacts_omitted', 'artifacts'],
  ['earlier_deployments_omitted', 'earlier deployments'],
]

function describeOmitted(predicate: Fields, field: string, what: string): string[] {
  const count = predicate.has(field) ? predicate.count(field) : 0
  return count === 0 ? [] : [`The statement leaves out ${count} more ${what}.`]
}

function textOf(fields: Fields, name: string): string {
  return fields.has(name) ? fields.string(name) : 'unknown'
}
