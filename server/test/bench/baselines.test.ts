import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defectDojoIds, githubAlertIds } from '../../bench/tracking/baselines.ts'
import { readResults, type SarifLog } from '../../bench/tracking/reported-result.ts'

type Fields = { uri?: string; line?: number; rule?: string; message?: string; snippet?: string; own?: string }

function report(fields: Fields, lineHash: string | null = 'hash:1') {
  const { uri = 'a.py', line = 3, rule = 'R', message = 'Message', snippet = 'code', own } = fields
  const region = { startLine: line, snippet: { text: snippet } }
  const result = {
    ruleId: rule,
    ruleIndex: 0,
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
    ...(own !== undefined && { partialFingerprints: { primaryLocationLineHash: own } }),
  }
  const rules = [{ id: rule, properties: { tags: ['security', 'external/cwe/cwe-089'] } }]
  const sarif: SarifLog = { runs: [{ tool: { driver: { name: 'Tool', rules } }, results: [result] }] }
  return { commit: 'c', sarif, results: readResults(sarif, ''), lineHashes: [lineHash] }
}

const github = (fields: Fields, lineHash?: string) => githubAlertIds(report(fields, lineHash))[0]
const defectDojo = (fields: Fields) => defectDojoIds(report(fields))[0]

test('a GitHub alert stays the same on another line, with another message and other columns', () => {
  assert.equal(github({ line: 3 }), github({ line: 9, message: 'Other', snippet: 'other' }))
})

test('a GitHub alert is another one with another hash, path or rule', () => {
  const alert = github({})
  for (const other of [github({}, 'hash:2'), github({ uri: 'b.py' }), github({ rule: 'S' })])
    assert.notEqual(other, alert)
})

test('a hash that the scanner wrote replaces the computed one', () => {
  assert.equal(github({ own: 'own:1' }, 'hash:1'), github({ own: 'own:1' }, 'hash:2'))
  assert.notEqual(github({ own: 'own:1' }), github({ own: 'own:2' }))
})

test('a DefectDojo finding is title, CWE, line, file path and description', () => {
  const finding = defectDojo({})
  const others = [{ line: 4 }, { uri: 'b.py' }, { message: 'Other' }, { snippet: 'other' }, { rule: 'S' }]
  assert.equal(defectDojo({}), finding)
  for (const other of others) assert.notEqual(defectDojo(other), finding)
  assert.match(finding ?? '', /\b89\b/)
})
