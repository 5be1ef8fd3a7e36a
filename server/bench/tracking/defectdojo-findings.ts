import type { Ids } from './identity-score.ts'
import type { ReportedResult } from './reported-result.ts'
import type { ScanReport } from './tracking-data.ts'

const TITLE_MAX = 150

/**
 * Baseline: DefectDojo's default for SARIF, by its documentation ("Deduplication algorithms"): no
 * fields are configured for SARIF, so its legacy hash is used, of title, CWE, line, file path and
 * description. The title is the beginning of the message. The description has the message, the
 * snippet and the texts of the rule. These do not change between reports of one scanner version,
 * so the id of the rule stands for them.
 */
export function defectDojoIds({ results }: ScanReport): Ids {
  return results.map(legacyHashFields)
}

export function legacyHashFields(result: ReportedResult): string {
  const { message, cwe, startLine, path, snippet, rule } = result
  return JSON.stringify([message.slice(0, TITLE_MAX), cwe, startLine, path, [message, snippet, rule]])
}
