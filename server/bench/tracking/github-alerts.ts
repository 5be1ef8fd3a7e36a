import type { Ids } from './identity-score.ts'
import type { ScanReport } from './tracking-data.ts'

/**
 * Baseline: GitHub code scanning, by its documentation ("SARIF support for code scanning": data for
 * preventing duplicated alerts). An alert is one tool, rule, path and `primaryLocationLineHash`.
 * The upload action computes the hash if the scanner did not write it. Results of one report with
 * the same identity are one alert.
 */
export function githubAlertIds({ results, lineHashes }: ScanReport): Ids {
  return results.map((result, index) => {
    const hash = result.ownLineHash ?? lineHashes[index] ?? null
    return JSON.stringify([result.scanner, result.rule, result.path, hash])
  })
}
