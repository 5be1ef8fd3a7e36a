/** How the results are spread, and whether every third one flags the same text. */
export type ReportShape = { files: number; folders: number; rules: number; hasEqualTexts: boolean }

const FEW_FILES: ReportShape = { files: 997, folders: 997, rules: 50, hasEqualTexts: false }

/** A report over the whole code of a large organization: about two results in a file. */
export const MANY_FILES: ReportShape = { files: 45_000, folders: 900, rules: 200, hasEqualTexts: true }

/**
 * A SARIF 2.1.0 report as a code scanner writes it, with so many results, all of them different.
 * About 1 KB a result.
 */
export function sarifReport(results: number, shape = FEW_FILES): Buffer {
  const rules = Array.from({ length: shape.rules }, (_, at) => rule(at))
  const driver = { name: 'bench-scanner', version: '1.2.3', informationUri: 'https://scanner.example', rules }
  const run = { tool: { driver }, results: Array.from({ length: results }, (_, at) => result(at, shape)) }
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json'
  return Buffer.from(JSON.stringify({ $schema, version: '2.1.0', runs: [run] }, null, 1))
}

function rule(at: number) {
  return {
    id: `bench/rule-${at}`,
    name: `Rule${at}`,
    shortDescription: { text: `Untrusted data reaches sink ${at}` },
    help: { text: 'Validate the value before it is used.' },
    defaultConfiguration: { level: at % 3 === 0 ? 'error' : 'warning' },
    properties: {
      'security-severity': (1 + (at % 90) / 10).toFixed(1),
      tags: ['security', `external/cwe/cwe-${20 + at}`],
    },
  }
}

function result(at: number, { files, folders, rules, hasEqualTexts }: ReportShape) {
  const startLine = 1 + (at % 2000)
  const name = hasEqualTexts && at % 3 === 0 ? '' : at
  return {
    ruleId: `bench/rule-${at % rules}`,
    ruleIndex: at % rules,
    level: 'warning',
    message: { text: `The value of parameter p${at} flows into a query without being checked on the way.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: {
            uri: `services/shop/src/module-${at % folders}/handler-${at % files}.ts`,
            uriBaseId: '%SRCROOT%',
          },
          region: {
            startLine,
            startColumn: 5,
            endLine: startLine + 1,
            snippet: { text: `  const row${name} = await query(request.params.p${name})` },
          },
        },
      },
    ],
    partialFingerprints: { primaryLocationLineHash: `${at.toString(16).padStart(16, '0')}:1` },
  }
}
