import type { Weakness } from '../world/weaknesses.ts'

type Result = Pick<Weakness, 'rule' | 'severity' | 'score' | 'cwe' | 'title' | 'path' | 'line' | 'code'>

/** A SARIF 2.1.0 report of a scanner. */
export function renderSarif(
  tool: { name: string; version: string },
  results: readonly Result[],
  tags: readonly string[] = [],
): string {
  const rules = [...new Map(results.map((result) => [result.rule, result])).values()]
  return JSON.stringify(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { ...tool, semanticVersion: tool.version, rules: rules.map((rule) => toRule(rule, tags)) } },
          results: results.map(toResult),
        },
      ],
    },
    null,
    1,
  )
}

function toRule({ rule, severity, score, cwe, title }: Result, tags: readonly string[]) {
  return {
    id: rule,
    name: rule.split('.').at(-1),
    shortDescription: { text: title },
    fullDescription: { text: `${title}. See CWE-${cwe}.` },
    defaultConfiguration: { level: severity },
    properties: { 'security-severity': score.toFixed(1), tags: ['security', `external/cwe/cwe-${cwe}`, ...tags] },
  }
}

function toResult({ rule, severity, title, path, line, code }: Result) {
  return {
    ruleId: rule,
    level: severity,
    message: { text: title },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: path },
          region: { startLine: line, startColumn: 1, endLine: line, snippet: { text: code } },
          contextRegion: { startLine: Math.max(1, line - 1), endLine: line + 1, snippet: { text: `\n${code}\n` } },
        },
      },
    ],
  }
}
