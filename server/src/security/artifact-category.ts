import { hash } from 'node:crypto'
import type { ReadableArtifact } from '../ci/artifact.store.ts'

const CATEGORY_CHARS_MAX = 100
const DIGEST_CHARS = 12

/**
 * The category of a report that a job sends as an artifact: the same job of the same pipeline, with the same matrix
 * and path, speaks for the same findings; another one does not close them. Made of a category's own characters.
 */
export function artifactCategory({ pipeline_name, job_name, matrix, report_name, path }: ReadableArtifact): string {
  const identity = [pipeline_name, job_name, sortedMatrix(matrix), report_name, path]
  const digest = hash('sha256', JSON.stringify(identity), 'hex').slice(0, DIGEST_CHARS)
  const readable = `ci/${pipeline_name}/${job_name}`.replaceAll(/[^A-Za-z0-9._/:-]/g, '-')
  return `${readable.slice(0, CATEGORY_CHARS_MAX - DIGEST_CHARS - 1)}:${digest}`
}

function sortedMatrix(matrix: object | null): [string, unknown][] {
  return Object.entries(matrix ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}
