import { hash } from 'node:crypto'

export type Scalar = string | number | boolean | null
export type Matrix = Record<string, Scalar>
export type ReportIdentity = { runId: string; attempt: number; jobName: string; matrix: Matrix | null; name: string }

const DIGEST_CHARS = 24

/**
 * The id of a report: the same attempt, job, matrix and name of a run always give the same one, which is what makes a
 * second report a replacement (decisions §6). The order of the matrix's keys does not matter.
 */
export function reportId({ runId, attempt, jobName, matrix, name }: ReportIdentity): string {
  const sorted = Object.entries(matrix ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const digest = hash('sha256', JSON.stringify([runId, attempt, jobName, sorted, name]), 'hex')
  return `${attempt}-${digest.slice(0, DIGEST_CHARS)}`
}
