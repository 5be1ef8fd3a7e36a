import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReport } from '../../../../test/support/parse-report.ts'
import { sarif } from '../../../../test/support/sarif.ts'

type Written = { rule?: string; line: number; text?: string; fingerprint: string; member?: string }

const result = ({ rule = 'R', line, text, fingerprint, member = 'fingerprints' }: Written) => ({
  ruleId: rule,
  message: { text: `Problem ${line}` },
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: 'a.ts' },
        region: { startLine: line, ...(text && { snippet: { text } }) },
      },
    },
  ],
  [member]: { 'id/v1': fingerprint },
})

async function methods(results: Written[]): Promise<string[]> {
  const { findings } = await parseReport(JSON.stringify(sarif(results.map(result), 'Scanner')))
  return [...new Set(findings.map(({ fingerprint_method }) => fingerprint_method))]
}
const texts = (results: Written[]) => results.map((one) => ({ ...one, text: `f(${one.line})` }))

test('a fingerprint that all results of a report share is none', async () => {
  for (const member of ['fingerprints', 'partialFingerprints']) {
    const constant = [1, 2, 3].map((line) => ({ line, fingerprint: 'x', member }))
    assert.deepEqual(await methods(constant), ['message'], member)
    assert.deepEqual(await methods(texts(constant)), ['snippet'], member)
    assert.deepEqual(await methods(texts(constant.slice(1))), ['snippet'], member)
    const ofRules = constant.map((one) => ({ ...one, rule: `R${one.line}` }))
    assert.deepEqual(await methods(ofRules), ['message'], member)
  }
})

test('a fingerprint that all results of each rule share is none', async () => {
  const ofRule = [1, 2, 3, 4, 5, 6].map((line) => ({ line, rule: `R${line % 2}`, fingerprint: `hash of R${line % 2}` }))
  assert.deepEqual(await methods(ofRule), ['message'])
  assert.deepEqual(await methods(texts(ofRule)), ['snippet'])
})

test('a fingerprint stays if two results of a rule differ in it, or copies of one text share it', async () => {
  const own = [1, 2, 3].map((line) => ({ line, fingerprint: `${line}` }))
  assert.deepEqual(await methods(own), ['fingerprints'])
  const copies = [1, 2, 3].map((line) => ({ line, text: 'f(x)', fingerprint: 'hash of f(x)' }))
  assert.deepEqual(await methods(copies), ['fingerprints'])
  assert.deepEqual(await methods([{ line: 1, fingerprint: 'x' }]), ['fingerprints'])
})

test('a value that many but not all results of a rule share identifies none of them', async () => {
  const written = (count: number, others: number) =>
    Array.from({ length: count + others }, (_, at) => ({ line: at + 1, fingerprint: at < count ? 'x' : `${at}` }))
  const listMethods = async (results: Written[]) => {
    const { findings } = await parseReport(JSON.stringify(sarif(results.map(result), 'Scanner')))
    return findings.map(({ fingerprint_method: method }) => method)
  }
  const own = Array(10).fill('fingerprints')
  assert.deepEqual(await listMethods(written(40, 10)), [...Array(40).fill('message'), ...own])
  assert.deepEqual(await listMethods(texts(written(40, 10))), [...Array(40).fill('snippet'), ...own])
  assert.deepEqual(await listMethods(written(2, 10)), Array(12).fill('fingerprints'), 'two places may have one text')
  const ofRules = written(40, 10).map((one) => ({ ...one, rule: `R${one.line}` }))
  assert.deepEqual(await listMethods(ofRules), Array(50).fill('fingerprints'), 'once by each rule')
})
