import type { Schema } from '../../api/client.ts'
import { PROVIDER_NAMES } from '../../page/provider-names.ts'

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
  ...{ openvex: 'OpenVEX', csaf: 'CSAF VEX', shiplock: 'Shiplock', report: 'the report' },
}

const ALERT_TYPES: Record<string, string> = { dependabot: 'Dependabot', codeql: 'CodeQL' }

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
