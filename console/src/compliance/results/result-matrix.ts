import type { ComplianceResult } from '../facts/vocabulary.ts'

/** A repository with its results by the id of their policy. */
export type MatrixRow = { repository: string; results: Map<string, ComplianceResult> }

/** A policy that has results. */
export type MatrixColumn = { id: string; name: string }

/** Arranges results: a row for each repository, a column for each policy, both by name. */
export function matrixOf(results: readonly ComplianceResult[]): { rows: MatrixRow[]; columns: MatrixColumn[] } {
  const rows = new Map<string, MatrixRow>()
  const columns = new Map<string, MatrixColumn>()
  for (const result of results) {
    const row = rows.get(result.repository) ?? { repository: result.repository, results: new Map() }
    row.results.set(result.policy_id, result)
    rows.set(row.repository, row)
    columns.set(result.policy_id, { id: result.policy_id, name: result.policy_name })
  }
  return {
    rows: [...rows.values()].toSorted((one, other) => one.repository.localeCompare(other.repository)),
    columns: [...columns.values()].toSorted((one, other) => one.name.localeCompare(other.name)),
  }
}
