const RULES = 50

/**
 * A SARIF 2.1.0 report as a code scanner writes it, with so many results, all of them different.
 * About 1 KB a result.
 */
export function sarifReport(results: number): Buffer {
  const rules = Array.from({ length: RULES }, (_, at) => rule(at))
  const driver = { name: 'bench-scanner', version: '1.2.3', informationUri: 'https://scanner.example', rules }
  const run = { tool: { driver }, results: Array.from({ length: results }, (_, at) => result(at)) }
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

function result(at: number) {
  const startLine = 1 + (at % 2000)
  return {
    ruleId: `bench/rule-${at % RULES}`,
    ruleIndex: at % RULES,
    level: 'warning',
    message: { text: `The value of parameter p${at} flows into a query without being checked on the way.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: `services/shop/src/module-${at % 997}/handler.ts`, uriBaseId: '%SRCROOT%' },
          region: {
            startLine,
            startColumn: 5,
            endLine: startLine + 1,
            snippet: { text: `  const row${at} = await query(request.params.p${at})` },
          },
        },
      },
    ],
    partialFingerprints: { primaryLocationLineHash: `${at.toString(16).padStart(16, '0')}:1` },
  }
}
