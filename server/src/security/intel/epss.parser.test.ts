import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EpssScore, parseEpss } from './epss.parser.ts'
import { IntelError } from './intel-file.ts'

const FACTS = '#model_version:v2025.03.14,score_date:2026-03-01T12:55:00Z'
const HEADER = 'cve,epss,percentile'
const ROW = 'CVE-2021-44228,0.94358,0.99956'

async function read(lines: string[], end = '\n') {
  const batches = parseEpss(piecesOf(Buffer.from(lines.map((line) => line + end).join(''))))
  const scores: EpssScore[] = []
  for (;;) {
    const step = await batches.next()
    if (step.done) return { scores, facts: step.value }
    scores.push(...step.value)
  }
}

async function* piecesOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

const refuses = (lines: string[], reason: RegExp) =>
  assert.rejects(read(lines), (error) => error instanceof IntelError && reason.test(error.message))

test('scores are read with their date and model, with either kind of line end', async () => {
  const scores = [{ cve_id: 'CVE-2021-44228', score: 0.94358, percentile: 0.99956 }]
  const facts = { version: 'v2025.03.14', as_of: new Date('2026-03-01T00:00:00Z'), skipped: 0, reasons: [] }
  for (const end of ['\n', '\r\n']) assert.deepEqual(await read([FACTS, HEADER, ROW], end), { scores, facts })
})

test('the older form of the date and the exponents of small scores are read', async () => {
  const { scores, facts } = await read([
    '#model_version:v2023.03.01,score_date:2024-05-30T00:00:00+0000',
    HEADER,
    'CVE-2020-1234,9e-05,1.0',
  ])
  assert.deepEqual(scores, [{ cve_id: 'CVE-2020-1234', score: 0.00009, percentile: 1 }])
  assert.equal(facts.as_of.toISOString(), '2024-05-30T00:00:00.000Z')
})

test('an error names the number of a broken line', async () => {
  await refuses(['', HEADER, ROW], /^Line 1: expected a score_date/)
  await refuses([FACTS, 'cve,score', ROW], /^Line 2: expected the header/)
})

test('an odd line is skipped, and its number and reason are kept', async () => {
  const skips = async (lines: string[], reason: RegExp) => {
    const { scores, facts } = await read([FACTS, HEADER, ...lines])
    assert.deepEqual([scores.length, facts.skipped, facts.reasons.length], [1, 1, 1])
    assert.match(facts.reasons[0] ?? '', reason)
  }
  await skips([ROW, 'CVE-2020-1234,1.5,0'], /^Line 4: "1.5" is not a number from 0 to 1/)
  await skips([ROW, 'CVE-2020-1234,0.5'], /^Line 4: "" is not a number/)
  await skips(['log4shell,0.5,0.5', ROW], /^Line 3: expected a CVE id/)
  await skips([`${ROW},1`, ROW], /^Line 3: expected a CVE id, a score and a percentile/)
  await skips([ROW, ROW], /^Line 4: CVE-2021-44228 is listed twice/)
})

test('a file of odd lines is refused, so that it cannot delete the stored scores', async () => {
  await refuses([FACTS, HEADER, 'log4shell,0.5,0.5'], /^Line 3: expected a CVE id/)
  const odd = Array.from({ length: 3 }, (_, n) => `odd-${n},0.5,0.5`)
  const good = Array.from({ length: 200 }, (_, n) => `CVE-2020-${1000 + n},0.5,0.5`)
  await refuses([FACTS, HEADER, ...good, ...odd], /3 of 203 cannot be read/)
  assert.equal((await read([FACTS, HEADER, ...good, ...odd.slice(1)])).facts.skipped, 2)
})

test('a file without scores is refused, so that it cannot delete the stored scores', async () => {
  await refuses([], /no scores/)
  await refuses([FACTS, HEADER], /no scores/)
})

test('an endless line is refused before it fills the memory', async () => {
  await refuses(['#'.repeat(20_000)], /longer than/)
})
