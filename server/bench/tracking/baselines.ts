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

/** DefectDojo cuts titles here. */
const TITLE_MAX = 150

/**
 * Baseline: DefectDojo's default for SARIF, by its documentation ("Deduplication algorithms"): no
 * fields are configured for SARIF, so its legacy hash is used, of title, CWE, line, file path and
 * description. The title is the beginning of the message. The description has the message, the
 * snippet and the texts of the rule. These do not change between reports of one scanner version,
 * so the id of the rule stands for them.
 */
export function defectDojoIds({ results }: ScanReport): Ids {
  return results.map(({ message, cwe, startLine, path, snippet, rule }) => {
    const description = [message, snippet, rule]
    return JSON.stringify([message.slice(0, TITLE_MAX), cwe, startLine, path, description])
  })
}
