/** Which of a stream's findings a report may close by not holding them: all, only those that the report before it did not hold either, or none. */
export type Closing = 'all' | 'missing_before' | 'none'

/** A stream with fewer open findings may lose them all at once. */
const GUARDED_FINDINGS_MIN = 20

export type ReportToJudge = {
  tool: string
  /** Rules that it names, and that the report before it named which closed what it did not hold. Null where none is known. */
  rules: number | null
  rulesBefore: number | null
  /** Why the report does not hold all that its tool found; null where it does. */
  incomplete: string | null
  /** Open findings of the stream; those that the report does not hold; those that the one before it did not hold either. */
  open: number
  missing: number
  missingBefore: number
}

export type Verdict = { closing: Closing; warning: string | null }

/**
 * What a report may close by not holding it. One that does not say all closes nothing. One that would close more than
 * half of 20 or more findings and names fewer rules than the one before looks like a scan gone wrong: it closes nothing
 * but what was missing before, and the next report that agrees with it closes the rest.
 */
export function judgeClosing(report: ReportToJudge): Verdict {
  const { tool, incomplete } = report
  if (incomplete !== null) return { closing: 'none', warning: `No finding of ${tool} was closed. ${incomplete}` }
  if (!looksWrong(report)) return { closing: 'all', warning: null }
  const { open, missing, missingBefore, rules, rulesBefore } = report
  const held = missing - missingBefore
  const of = open - missingBefore
  return {
    closing: 'missing_before',
    warning:
      `${held} of ${of} open findings of ${tool} are not in the report, which names ${rules} rules where the one ` +
      `before it named ${rulesBefore}. They were not closed; the next report without them closes them.`,
  }
}

/** Findings that were missing before are agreed on, and out of the count. */
function looksWrong({ open, missing, missingBefore, rules, rulesBefore }: ReportToJudge): boolean {
  const namesFewer = rules !== null && rulesBefore !== null && rules < rulesBefore
  const of = open - missingBefore
  return namesFewer && of >= GUARDED_FINDINGS_MIN && (missing - missingBefore) * 2 > of
}
