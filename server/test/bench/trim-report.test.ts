import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskText } from '../../bench/tracking/mask-text.ts'
import { trimReport } from '../../bench/tracking/trim-report.ts'

const SOURCE = 'if (userName == "Secret42") { return readFile(userName); }\n'

test('a masked text keeps its shape and its keywords, and no other word', () => {
  const masked = maskText(SOURCE)
  assert.equal(masked.length, SOURCE.length)
  assert.equal(
    masked.replace(/[a-z]/g, 'x').replace(/[A-Z]/g, 'X'),
    SOURCE.replace(/[a-z]/g, 'x').replace(/[A-Z]/g, 'X'),
  )
  assert.ok(masked.startsWith('if (') && masked.includes('return '))
  assert.ok(!/secretive|gamma/i.test(maskText('secretive gamma')))
})

test('equal words have equal masks', () => {
  const [first, , last] = maskText('alpha bravo alpha').split(' ')
  assert.equal(first, last)
  assert.notEqual(maskText('alpha'), maskText('gamma'))
})

test('a trimmed report has masked snippets and none of the texts that no tracker reads', () => {
  const region = { startLine: 3, snippet: { text: 'gamma(delta)' } }
  const physicalLocation = { artifactLocation: { uri: 'src/gamma.js' }, region, contextRegion: region }
  const result = {
    ruleId: 'r',
    message: { text: 'gamma' },
    locations: [{ physicalLocation }],
    codeFlows: [],
    fixes: [],
  }
  const rules = [{ id: 'r', help: { text: 'long' }, properties: { tags: ['CWE-79'], long: 'x'.repeat(500) } }]
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 't', rules } }, results: [result] }] }
  const masked = { startLine: 3, snippet: { text: maskText('gamma(delta)') } }
  assert.deepEqual(trimReport(report), {
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 't', rules: [{ id: 'r', properties: { tags: ['CWE-79'] } }] } },
        results: [
          {
            ruleId: 'r',
            message: { text: 'gamma' },
            locations: [{ physicalLocation: { ...physicalLocation, region: masked, contextRegion: masked } }],
          },
        ],
      },
    ],
  })
})
