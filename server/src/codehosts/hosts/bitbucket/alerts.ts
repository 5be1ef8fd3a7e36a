import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import { type HostAlert, NO_DETAILS } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { NO_ACCESS } from '../../kit/pages.ts'
import { Id, Maybe, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type BitbucketApi, formatUuid, parseUuid } from './client.ts'
import { Commit } from './commits.ts'

/** A commit without finished reports is common: its pipeline still runs, or has none. */
const COMMITS_MAX = 5
/** Bitbucket keeps at most 1,000 annotations of a report. */
const ANNOTATION_PAGES_MAX = 10
const REPORTS_MAX = 50

/**
 * The alerts of a repository are the vulnerabilities in the security reports of Code Insights, of
 * the newest commit of the tracked branch whose security reports are finished. All of them are one
 * page, so one that is not on it is fixed. Without such a commit, nothing is known.
 */
export function createAlertReads(api: BitbucketApi): Pick<HostReader, 'listAlerts' | 'readAlert'> {
  return {
    async listAlerts(repository, type, { etag }) {
      const alerts = type === 'code_scanning' ? await fetchAlerts(api, repository) : null
      if (alerts === null) return NO_ACCESS
      // Bitbucket's lists of annotations have no versions.
      const facts = alerts.map(({ repository: _, ...alert }) => alert)
      const version = createHash('sha256').update(JSON.stringify(facts)).digest('hex')
      return version === etag ? 'not_modified' : { items: alerts, next: null, etag: version }
    },

    async readAlert(repository, { type, number }) {
      const alerts = type === 'code_scanning' ? await fetchAlerts(api, repository) : null
      return alerts?.find((alert) => alert.number === number) ?? null
    },
  }
}

/** Newest change first. Null if no commit has finished reports that may be read. */
async function fetchAlerts(api: BitbucketApi, repository: HostRepository): Promise<HostAlert[] | null> {
  const query = { include: repository.default_branch, pagelen: COMMITS_MAX }
  const commits = await api.fetchRawPage({ path: api.repositoryPath(repository, '/commits'), query }, null)
  for (const value of commits?.values ?? []) {
    const commit = readAs(Commit, value)
    const reports = await fetchReports(api, repository, commit.hash)
    if (reports.length === 0 || reports.some(({ result }) => result === 'PENDING')) continue
    const at = new Date(commit.date ?? 0)
    const lists = await Promise.all(
      reports.map((report) => fetchAnnotations(api, { repository, report, commit_sha: commit.hash, at })),
    )
    return lists.flat().sort((one, other) => other.updated_at.getTime() - one.updated_at.getTime())
  }
  return null
}

/** A report of Code Insights. */
const Report = Type.Object({
  uuid: Text,
  external_id: Maybe(Text),
  title: Maybe(Text),
  reporter: Maybe(Text),
  link: Maybe(Text),
  report_type: Maybe(Text),
  result: Maybe(Text),
})
type Report = Static<typeof Report>

async function fetchReports(api: BitbucketApi, repository: HostRepository, sha: string): Promise<Report[]> {
  const path = api.repositoryPath(repository, encodePath`/commit/${sha}/reports`)
  const reports = await api.fetchAll({ path }, (value) => readAs(Report, value))
  return reports.filter(({ report_type }) => report_type === 'SECURITY').slice(0, REPORTS_MAX)
}

type AnnotationPlace = { repository: HostRepository; report: Report; commit_sha: string; at: Date }

async function fetchAnnotations(api: BitbucketApi, place: AnnotationPlace): Promise<HostAlert[]> {
  const { repository, report, commit_sha } = place
  const id = formatUuid(parseUuid(report.uuid))
  const path = api.repositoryPath(repository, encodePath`/commit/${commit_sha}/reports/${id}/annotations`)
  const found = await api.fetchList({ path }, ANNOTATION_PAGES_MAX)
  return api.parseItems(found?.values ?? [], (annotation) => parseAnnotation(annotation, place))
}

const Annotation = Type.Object({
  uuid: Maybe(Text),
  external_id: Maybe(Text),
  annotation_type: Maybe(Text),
  path: Maybe(Text),
  line: Maybe(Id),
  summary: Maybe(Text),
  details: Maybe(Text),
  result: Maybe(Text),
  severity: Maybe(Text),
  link: Maybe(Text),
  created_on: Maybe(Timestamp),
  updated_on: Maybe(Timestamp),
})

const SEVERITIES: Readonly<Record<string, HostAlert['severity']>> = {
  CRITICAL: 'critical',
  HIGH: 'high',
  MEDIUM: 'medium',
  LOW: 'low',
}
const STATUSES: Readonly<Record<string, HostAlert['status']>> = { PASSED: 'fixed', IGNORED: 'dismissed' }

/**
 * A vulnerability of a security report as an alert; null for other annotations. `at`: the time of
 * the commit, for annotations without times. Bitbucket does not say who ignored an annotation.
 */
function parseAnnotation(value: unknown, { repository, report, commit_sha, at }: AnnotationPlace): HostAlert | null {
  const annotation = readAs(Annotation, value)
  if (annotation.annotation_type !== 'VULNERABILITY') return null
  const status = STATUSES[annotation.result ?? ''] ?? 'open'
  const detectedAt = annotation.created_on ? new Date(annotation.created_on) : at
  const updatedAt = annotation.updated_on ? new Date(annotation.updated_on) : detectedAt
  const path = parseText(annotation.path)
  const lines = { start_line: annotation.line || null, end_line: null, start_column: null, end_column: null }
  return {
    ...NO_DETAILS,
    repository,
    type: 'code_scanning',
    number: alertNumber(report, annotation),
    status,
    severity: SEVERITIES[annotation.severity ?? ''] ?? 'medium',
    title: parseText(annotation.summary) ?? 'Code Insights annotation',
    description: parseText(annotation.details),
    url: parseText(annotation.link) ?? parseText(report.link),
    tool_name: parseText(report.reporter) ?? parseText(report.title),
    location: path === null ? null : { path, ...lines },
    commit_sha,
    git_ref: `refs/heads/${repository.default_branch}`,
    detected_at: detectedAt,
    fixed_at: status === 'fixed' ? updatedAt : null,
    dismissal: status === 'dismissed' ? { by: null, reason: null, comment: null, at: updatedAt } : null,
    updated_at: updatedAt,
  }
}

const NUMBER_BITS = 53n

/**
 * Bitbucket does not number annotations. The first 53 bits of the hash of both ids, which their
 * tool chose and keeps from commit to commit: among 100,000 annotations of a repository, two have
 * the same number with a probability below 10^-6.
 */
function alertNumber(report: Report, annotation: Static<typeof Annotation>): number {
  const ids = [report.external_id ?? parseUuid(report.uuid), annotation.external_id ?? parseUuid(annotation.uuid ?? '')]
  const digest = createHash('sha256').update(JSON.stringify(ids)).digest()
  return Number(digest.readBigUInt64BE() >> (64n - NUMBER_BITS))
}
