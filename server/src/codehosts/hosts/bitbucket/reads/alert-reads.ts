import { createHash } from 'node:crypto'
import type { HostReader } from '../../../code-host.ts'
import type { HostAlert } from '../../../host-alert.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { readAs } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { BitbucketApi } from '../client.ts'
import { bareUuid, bracedUuid } from '../client/uuid.ts'
import { parseAnnotation, parseReport, type Report } from '../alerts.ts'
import { Commit } from '../objects/commit.parser.ts'

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
export function alertReads(api: BitbucketApi): Pick<HostReader, 'listAlerts' | 'readAlert'> {
  return {
    async listAlerts(repository, type, { etag }) {
      const alerts = type === 'code_scanning' ? await listAll(api, repository) : null
      if (alerts === null) return { items: [], next: null, etag: null }
      const version = versionOf(alerts)
      return version === etag ? 'not_modified' : { items: alerts, next: null, etag: version }
    },

    async readAlert(repository, { type, number }) {
      const alerts = type === 'code_scanning' ? await listAll(api, repository) : null
      return alerts?.find((alert) => alert.number === number) ?? null
    },
  }
}

/** Bitbucket's lists of annotations have no versions. */
function versionOf(alerts: readonly HostAlert[]): string {
  const facts = alerts.map(({ repository: _, ...alert }) => alert)
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** Newest change first. Null if no commit has finished reports that may be read. */
async function listAll(api: BitbucketApi, repository: HostRepository): Promise<HostAlert[] | null> {
  const query = { include: repository.default_branch, pagelen: COMMITS_MAX }
  const commits = await api.requestPage({ path: api.pathOf(repository, '/commits'), query }, null)
  for (const value of commits?.values ?? []) {
    const commit = readAs(Commit, value)
    const reports = await listReports(api, repository, commit.hash)
    if (reports.length === 0 || reports.some(({ result }) => result === 'PENDING')) continue
    const at = new Date(commit.date ?? 0)
    const lists = await Promise.all(
      reports.map((report) => listAnnotations(api, { repository, report, commit_sha: commit.hash, at })),
    )
    return lists.flat().sort((one, other) => other.updated_at.getTime() - one.updated_at.getTime())
  }
  return null
}

async function listReports(api: BitbucketApi, repository: HostRepository, sha: string): Promise<Report[]> {
  const path = api.pathOf(repository, restPath`/commit/${sha}/reports`)
  const reports = await api.readAll({ path }, parseReport)
  return reports.filter(({ report_type }) => report_type === 'SECURITY').slice(0, REPORTS_MAX)
}

async function listAnnotations(api: BitbucketApi, place: Parameters<typeof parseAnnotation>[1]): Promise<HostAlert[]> {
  const { repository, report, commit_sha } = place
  const id = bracedUuid(bareUuid(report.uuid))
  const path = api.pathOf(repository, restPath`/commit/${commit_sha}/reports/${id}/annotations`)
  const found = await api.readList({ path }, ANNOTATION_PAGES_MAX)
  return api.parseItems(found?.values ?? [], (annotation) => parseAnnotation(annotation, place))
}
