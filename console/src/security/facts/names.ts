import type { Schema } from '../../api/client.ts'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { oneLine } from '../../page/reported-text.ts'

/** The kinds of problems as people call them. */
export const KIND_NAMES: Record<Schema<'Issue'>['kind'], string> = {
  code: 'Code',
  dependency: 'Dependency',
  secret: 'Secret',
  iac: 'Infrastructure',
  container: 'Container',
  license: 'License',
  other: 'Other',
}

const SOURCES: Record<string, string> = {
  ...{ ...PROVIDER_NAMES, sarif: 'SARIF', cyclonedx: 'CycloneDX', spdx: 'SPDX' },
  ...{ openvex: 'OpenVEX', csaf: 'CSAF VEX', shiplock: 'Shiplock', osv: 'OSV', report: 'the report' },
}

const ALERT_TYPES: Record<string, string> = { dependabot: 'Dependabot', codeql: 'CodeQL' }
const LENGTH_MAX = 200

/** Why a finding is fixed where no report closed it (docs/inventory.md, “Matches”). */
const END_REASONS: Record<string, string> = {
  component_removed: 'No document has the component any more',
  version_changed: 'The version that replaced it is not affected',
  advisory_corrected: 'The advisories no longer say that it is affected',
  advisory_withdrawn: 'The advisory was withdrawn',
  stream_ended: 'Its stream has ended',
  merged: 'Another finding of the same vulnerability goes on',
  matching_off: 'The organization turned matching off',
}

type Ended = Pick<Schema<'Finding'>, 'state' | 'category_reason'>

/** The state of a finding. What ended without a fix is not shown as fixed. */
export function shownState({ state, category_reason: reason }: Ended): string {
  const isFix = reason === null || reason === 'component_removed' || reason === 'version_changed'
  return state === 'fixed' && !isFix ? 'ended' : state
}

/** Why a finding is no longer open, where no report closed it. Null for others. */
export function endReason({ state, category_reason: reason }: Ended): string | null {
  return state !== 'fixed' || reason === null ? null : (END_REASONS[reason] ?? reason)
}

type AlertKind = { provider: string; type: string }

/**
 * The type of an alert: `secret_scanning` is "Secret scanning". `dependabot` are the alerts about
 * dependencies of every code host, and the name of GitHub's.
 */
export function nameOfAlertType({ provider, type }: AlertKind): string {
  if (type === 'dependabot' && provider !== 'github') return 'Dependency scanning'
  const words = type.replaceAll('_', ' ')
  return ALERT_TYPES[type] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** A report format, a VEX format or a code host. */
export function nameOfSource(source: string): string {
  return SOURCES[source] ?? source
}

type Place = {
  location: { path: string; start_line: number | null; end_line?: number | null } | null
  package_name: string | null
  package_version: string | null
  resource_name: string | null
}

/** Where a problem is, in a few words: the package, the file or the resource. */
export function placeText({ location, package_name, package_version, resource_name }: Place): string | null {
  if (package_name !== null)
    return oneLine(package_version === null ? package_name : `${package_name} ${package_version}`, LENGTH_MAX)
  if (location !== null) return locationText(location)
  return resource_name === null ? null : oneLine(resource_name, LENGTH_MAX)
}

/** A file with its lines: `src/a.ts:3-5`. */
export function locationText({ path, start_line: start, end_line: end }: NonNullable<Place['location']>): string {
  if (start === null) return oneLine(path, LENGTH_MAX)
  const lines = end === undefined || end === null || end === start ? `${start}` : `${start}-${end}`
  return `${oneLine(path, LENGTH_MAX)}:${lines}`
}
