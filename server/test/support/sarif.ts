/**
 * A SARIF result as a scanner writes it: a rule, a message and a line of a file. `fields` replace
 * or add members.
 */
export function sarifResult(ruleId: string, line = 1, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ruleId,
    message: { text: `${ruleId} was violated` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: `src/${ruleId}.ts` }, region: { startLine: line, endLine: line } },
      },
    ],
    ...fields,
  }
}

/**
 * A result whose own score gives its severity: 9.0 critical, 7.0 high, 4.0 medium, above 0 low
 * (decisions §7).
 */
export function scoredResult(ruleId: string, score: number): Record<string, unknown> {
  return sarifResult(ruleId, 1, { properties: { 'security-severity': `${score}` } })
}

/** What distinguishes a result from others. */
export type Placed = {
  rule?: string
  file?: string
  line?: number
  snippet?: string | undefined
  message?: string
  fields?: object
}

/** A result at a line of a file, with its code if the tool reports code. */
export function placedResult({ rule = 'R', file = 'src/a.ts', line = 1, snippet, message = 'Bad', fields }: Placed) {
  const region = { startLine: line, ...(snippet === undefined ? {} : { snippet: { text: snippet } }) }
  const locations = [{ physicalLocation: { artifactLocation: { uri: file }, region } }]
  return { ruleId: rule, message: { text: message }, locations, ...fields }
}

/** The results of one tool; further runs of a report are made with `sarifRun`. */
export function sarifRun(results: unknown, tool = 'Linter', fields: Record<string, unknown> = {}) {
  return { tool: { driver: { name: tool, version: '1.0.0' } }, results, ...fields }
}

export function sarif(results: unknown, tool?: string, fields?: Record<string, unknown>) {
  return sarifReport([sarifRun(results, tool, fields)])
}

export function sarifReport(runs: unknown[]) {
  return { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs }
}
