import { hash } from 'node:crypto'
import type { ReadableArtifact } from '../../ci/reports/report.store.ts'

const CATEGORY_CHARS_MAX = 100
const DIGEST_CHARS = 12

/**
 * The category of a report that a job sends as an artifact: the same job of the same pipeline, with the same matrix
 * and path, speaks for the same findings; another one does not close them, nor does one of a repository of the same
 * name on another host, as long as both are known by their name alone. Made of a category's own characters.
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
