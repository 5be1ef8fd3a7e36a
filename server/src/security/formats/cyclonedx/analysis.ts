import { type JsonObject, objectOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, COMMENT_MAX } from '../../vocabulary/bounded-text.ts'
import type { Dismissal } from '../report/dependency-finding.ts'

/** States in which a vulnerability needs no work (VEX). `in_triage` and `exploitable` leave it open, and so does one that is unknown. */
const SETTLED = new Set(['not_affected', 'false_positive', 'resolved', 'resolved_with_pedigree'])

/** Why the report itself says that the vulnerability does not count; null when it does. */
export function dismissalByAnalysis(vulnerability: JsonObject): Dismissal | null {
  const analysis = objectOf(vulnerability.analysis)
  const state = textOf(analysis?.state)
  if (analysis === null || state === null || !SETTLED.has(state)) return null
  const response = textsOf(analysis.response).join(', ')
  const parts = [
    textOf(analysis.justification),
    textOf(analysis.detail),
    response === '' ? null : `Response: ${response}`,
  ]
  return { reason: state, comment: boundedText(parts.filter((part) => part !== null).join('\n'), COMMENT_MAX) }
}
