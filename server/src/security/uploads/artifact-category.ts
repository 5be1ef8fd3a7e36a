import { hash } from 'node:crypto'
import type { ReadableArtifact } from '../../ci/reports/report.store.ts'

const CATEGORY_CHARS_MAX = 100
const DIGEST_CHARS = 12

/**
 * The category of a report that a job sends as an artifact. Reports of the same job and matrix of
 * the same pipeline, with the same path, have the same category, so that only they close each
 * other's findings. The host is a part of it, because repositories of the same name on two hosts
 * are one repository until they are connected.
 */
export function artifactCategory(artifact: ReadableArtifact): string {
  const { repository, pipeline_name, job_name, matrix, report_name, path } = artifact
  const host = repository.split('/', 1)[0]
  const identity = [host, pipeline_name, job_name, sortedMatrix(matrix), report_name, path]
  const digest = hash('sha256', JSON.stringify(identity), 'hex').slice(0, DIGEST_CHARS)
  const readable = `ci/${pipeline_name}/${job_name}`.replaceAll(/[^A-Za-z0-9._/:-]/g, '-')
  return `${readable.slice(0, CATEGORY_CHARS_MAX - DIGEST_CHARS - 1)}:${digest}`
}

function sortedMatrix(matrix: object | null): [string, unknown][] {
  return Object.entries(matrix ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}
