import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { type HostAlert, NO_DETAILS } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { bareUuid } from './client/uuid.ts'

const Report = Type.Object({
  uuid: Text,
  external_id: Maybe(Text),
  title: Maybe(Text),
  reporter: Maybe(Text),
  link: Maybe(Text),
  report_type: Maybe(Text),
  result: Maybe(Text),
})
export type Report = Static<typeof Report>

/** A report of Code Insights. */
export function parseReport(value: unknown): Report {
  return readAs(Report, value)
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

export type AnnotationPlace = { repository: HostRepository; report: Report; commit_sha: string; at: Date }

/**
 * A vulnerability of a security report as an alert; null for other annotations. `at`: the time of
 * the commit, for annotations without times. Bitbucket does not say who ignored an annotation.
 */
export function parseAnnotation(value: unknown, { repository, report, commit_sha, at }: AnnotationPlace) {
  const annotation = readAs(Annotation, value)
  if (annotation.annotation_type !== 'VULNERABILITY') return null
  const status = STATUSES[annotation.result ?? ''] ?? 'open'
  const detectedAt = annotation.created_on ? new Date(annotation.created_on) : at
  const updatedAt = annotation.updated_on ? new Date(annotation.updated_on) : detectedAt
  const path = textOrNull(annotation.path)
  const lines = { start_line: annotation.line || null, end_line: null, start_column: null, end_column: null }
  return {
    ...NO_DETAILS,
    repository,
    type: 'code_scanning',
    number: alertNumber(report, annotation),
    status,
    severity: SEVERITIES[annotation.severity ?? ''] ?? 'medium',
    title: textOrNull(annotation.summary) ?? 'Code Insights annotation',
    description: textOrNull(annotation.details),
    url: textOrNull(annotation.link) ?? textOrNull(report.link),
    tool_name: textOrNull(report.reporter) ?? textOrNull(report.title),
    location: path === null ? null : { path, ...lines },
    commit_sha,
    git_ref: `refs/heads/${repository.default_branch}`,
    detected_at: detectedAt,
    fixed_at: status === 'fixed' ? updatedAt : null,
    dismissal: status === 'dismissed' ? { by: null, reason: null, comment: null, at: updatedAt } : null,
    updated_at: updatedAt,
  } satisfies HostAlert
}

const NUMBER_BITS = 53n

/**
 * Bitbucket does not number annotations. The first 53 bits of the hash of both ids, which their
 * tool chose and keeps from commit to commit: among 100,000 annotations of a repository, two have
 * the same number with a probability below 10^-6.
 */
function alertNumber(report: Report, annotation: Static<typeof Annotation>): number {
  const ids = [report.external_id ?? bareUuid(report.uuid), annotation.external_id ?? bareUuid(annotation.uuid ?? '')]
  const digest = createHash('sha256').update(JSON.stringify(ids)).digest()
  return Number(digest.readBigUInt64BE() >> (64n - NUMBER_BITS))
}
