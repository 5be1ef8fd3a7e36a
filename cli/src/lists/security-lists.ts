import { UsageError } from '@shiplock/command-line/options'
import type { components } from '@shiplock/sdk'
import { type Filter, listCommand, PROVIDER, shortTime, timeFilter, WINDOW } from './list-command.ts'

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info']
const STATES = ['open', 'fixed', 'dismissed']
const KINDS = ['code', 'dependency', 'secret', 'iac', 'container', 'license', 'other']

export const REPOSITORY_FILTERS: Readonly<Record<string, Filter>> = {
  repository: { type: 'text', value: 'R', about: 'only those of this repository, as owner/name' },
  provider: PROVIDER,
  'repository-id': {
    type: 'text',
    value: 'ID',
    about: 'only those of the repository with this id on its host; needs --provider',
  },
}

const severityFilter: Filter = {
  type: 'text',
  value: 'SEVERITY',
  about: 'only those of this severity',
  choices: SEVERITIES,
}
const kindFilter: Filter = { type: 'text', value: 'KIND', about: 'only those of this kind', choices: KINDS }

export const findingsCommand = listCommand({
  name: 'findings',
  summary: 'List the findings of all scanners',
  details: ['Lists raw findings, newest first, including fixed and dismissed ones. See also: shiplock issues.'],
  examples: [
    'shiplock findings --repository acme/shop --state open --severity critical',
    'shiplock findings --scanner Trivy --ref main --limit 500 --json',
    'shiplock findings --first-seen-since 24h',
  ],
  path: '/v1/security/findings',
  scope: 'read:security',
  pageMax: 1000,
  filters: {
    ...REPOSITORY_FILTERS,
    state: { type: 'text', value: 'STATE', about: 'only those in this state', choices: STATES },
    severity: severityFilter,
    kind: kindFilter,
    scanner: { type: 'text', value: 'NAME', about: 'only those of this scanner' },
    category: { type: 'text', value: 'C', about: 'only those of reports with this category' },
    ref: { type: 'text', value: 'B', about: 'only those of this branch or tag', parameter: 'git_ref' },
    path: { type: 'text', value: 'PATH', about: 'only those whose path begins with this text' },
    issue: { type: 'text', value: 'ID', about: 'only those of this issue', parameter: 'issue_id' },
    'first-seen-since': timeFilter('only those first seen at or after this time'),
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'SEVERITY', text: ({ severity }) => severity, isSeverity: true },
    { heading: 'STATE', text: ({ state }) => state },
    { heading: 'SCANNER', text: ({ scanner }) => scanner, isFlexible: true, isOptional: true },
    { heading: 'REPOSITORY', text: ({ repository }) => repository, isFlexible: true, isOptional: true },
    { heading: 'WHERE', text: whereOf, isFlexible: true },
    { heading: 'TITLE', text: ({ title }) => title, isFlexible: true },
  ],
})

export const issuesCommand = listCommand({
  name: 'issues',
  summary: 'List the unique security issues',
  details: [
    'Lists issues, each of which groups the findings that different scanners, branches and reports have of one weakness. "shiplock explain ID" tells why.',
  ],
  examples: [
    'shiplock issues --status open --sort severity',
    'shiplock issues --kev true --repository acme/shop',
    'shiplock issues --epss-min 0.5 --json',
  ],
  path: '/v1/security/issues',
  scope: 'read:security',
  pageMax: 1000,
  filters: {
    ...REPOSITORY_FILTERS,
    status: { type: 'text', value: 'STATUS', about: 'only those with this status', choices: STATES },
    severity: severityFilter,
    kind: kindFilter,
    kev: {
      type: 'text',
      value: 'BOOLEAN',
      about: 'only those in the catalog of known exploited vulnerabilities, or only the others',
      choices: ['true', 'false'],
      read: (_name, text) => text === 'true',
    },
    'epss-min': { type: 'text', value: 'N', about: 'only those with this EPSS score, from 0 to 1', read: readScore },
    sort: { type: 'text', value: 'ORDER', about: 'what comes first', choices: ['newest', 'severity', 'epss'] },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'SEVERITY', text: ({ severity }) => severity, isSeverity: true },
    { heading: 'STATUS', text: ({ status }) => status },
    { heading: 'FINDINGS', text: ({ member_count }) => String(member_count), isOptional: true },
    { heading: 'REPOSITORY', text: ({ repository }) => repository, isFlexible: true, isOptional: true },
    { heading: 'WHERE', text: whereOf, isFlexible: true },
    { heading: 'TITLE', text: ({ title }) => title, isFlexible: true },
  ],
})

export const alertsCommand = listCommand({
  name: 'alerts',
  summary: 'List the security alerts of code hosts',
  details: ['Lists the alerts of connected code hosts, newest first.'],
  examples: ['shiplock alerts --status open --severity high', 'shiplock alerts --since 7d --json'],
  path: '/v1/security/alerts',
  scope: 'read:security',
  pageMax: 100,
  filters: {
    ...WINDOW,
    status: { type: 'text', value: 'STATUS', about: 'only those with this status, such as open' },
    severity: { type: 'text', value: 'SEVERITY', about: 'only those of this severity, such as high' },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'SEVERITY', text: ({ severity }) => severity, isSeverity: true },
    { heading: 'STATUS', text: ({ status }) => status },
    { heading: 'TYPE', text: ({ type }) => type, isOptional: true },
    { heading: 'DETECTED', text: ({ detected_at }) => shortTime(detected_at), isOptional: true },
    { heading: 'REPOSITORY', text: ({ repository }) => repository, isFlexible: true, isOptional: true },
    { heading: 'WHERE', text: ({ location, package_name }) => pathOf(location) ?? package_name, isFlexible: true },
    { heading: 'TITLE', text: ({ title }) => title, isFlexible: true },
  ],
})

type Located = Pick<components['schemas']['Issue'], 'location' | 'package_name' | 'package_version' | 'resource_name'>

/** The file and line of a finding, else its package, else its resource. */
function whereOf({ location, package_name, package_version, resource_name }: Located): string | null {
  const version = package_version === null ? '' : `@${package_version}`
  return pathOf(location) ?? (package_name === null ? resource_name : package_name + version)
}

function pathOf(location: { path: string; start_line: number | null } | null): string | null {
  if (location === null) return null
  return location.start_line === null ? location.path : `${location.path}:${location.start_line}`
}

function readScore(name: string, text: string): number {
  const score = Number(text)
  if (/^[\d.]+$/.test(text) && score >= 0 && score <= 1) return score
  throw new UsageError(`--${name} must be a number from 0 to 1, not "${text}"`)
}
