/** The pages that show what a rule has read, by the fields of the policy input that it names. */
export type EvidencePage = 'run' | 'findings' | 'issues' | 'uploads' | 'change'

const FIELDS: Record<EvidencePage, RegExp> = {
  run: /\b(?:run|attempts|reports|attestations|artifacts)\b/,
  findings: /\bfindings\b/,
  issues: /\bissues\b/,
  uploads: /\bscans\b/,
  change: /\b(?:pull_request|reviews|checks)\b/,
}

/** In what its expression is written about, texts do not count. */
const TEXTS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g

/** Which pages show the evidence of a rule. Rules in other languages than CEL can have read anything. */
export function evidencePages(expression: string | null): EvidencePage[] {
  if (expression === null) return ['run', 'findings', 'issues']
  const code = expression.replace(TEXTS, '""')
  return (Object.keys(FIELDS) as EvidencePage[]).filter((page) => FIELDS[page].test(code))
}
