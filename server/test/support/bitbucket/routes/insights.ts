import { found } from '../../hosts/http-error.ts'
import type { Routes } from '../../hosts/rest-request.ts'
import type { Alert, Repository } from '../../hosts/types.ts'
import type { Json } from '../../json.ts'
import { type Bitbucket, type Caller, hashOf, page, type Request, repositoryOf } from '../api.ts'
import { braced, timestamp } from '../shapes.ts'

const REPORTS = '/2.0/repositories/{workspace}/{repo_slug}/commit/{commit}/reports'

/**
 * Code Insights: the newest commit of the default branch has one security report for each tool that
 * found anything, and the others have none.
 */
export function insightRoutes(bitbucket: Bitbucket): Routes<Caller> {
  return {
    [`GET ${REPORTS}`]: (request) => page(bitbucket, request, reportsAt(bitbucket, request).map(reportJson)),
    [`GET ${REPORTS}/{report_id}/annotations`]: (request) => {
      const wanted = (request.params.report_id as string).replace(/[{}]/g, '')
      const report = found(reportsAt(bitbucket, request).find(({ uuid }) => uuid === wanted))
      return page(bitbucket, request, report.alerts.map(annotationJson))
    },
  }
}

type Report = { uuid: string; tool: string; alerts: Alert[] }

function reportsAt(bitbucket: Bitbucket, request: Request): Report[] {
  const repository = repositoryOf(bitbucket, request)
  const sha = hashOf(repository, request.params.commit as string)
  if (repository.refs.get(`refs/heads/${repository.default_branch}`) !== sha) return []
  return reportsOf(repository)
}

function reportsOf({ alerts, uuid }: Repository): Report[] {
  const own = alerts.filter(({ type }) => type === 'code_scanning')
  const byTool = Map.groupBy(own, ({ details }) => details.tool.name)
  return [...byTool].map(([tool, found], index) => ({ uuid: `${uuid.slice(0, -1)}${index}`, tool, alerts: found }))
}

function reportJson({ uuid, tool, alerts }: Report): Json {
  const isClean = alerts.every(({ state }) => state !== 'open')
  return {
    type: 'report',
    uuid: braced(uuid),
    external_id: `${tool.toLowerCase()}-report`,
    title: `${tool} scan`,
    details: 'Vulnerabilities of the newest commit.',
    reporter: tool,
    report_type: 'SECURITY',
    result: isClean ? 'PASSED' : 'FAILED',
  }
}

export function annotationId(alert: Alert): string {
  return `${alert.details.tool.name.toLowerCase()}-${alert.number}`
}

export function reportId(alert: Alert): string {
  return `${alert.details.tool.name.toLowerCase()}-report`
}

function annotationJson(alert: Alert): Json {
  const { details, uuid, state } = alert
  return {
    type: 'report_annotation',
    uuid: braced(uuid),
    external_id: annotationId(alert),
    annotation_type: 'VULNERABILITY',
    path: details.path,
    line: details.line,
    summary: details.title,
    details: details.description,
    result: { open: 'FAILED', dismissed: 'IGNORED', fixed: 'PASSED' }[state],
    severity: details.severity.toUpperCase(),
    created_on: timestamp(alert.created_at),
    updated_on: timestamp(alert.updated_at),
  }
}
