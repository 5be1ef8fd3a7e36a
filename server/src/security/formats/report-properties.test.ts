import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReport } from '../../../test/support/parse-report.ts'
import type { JsonObject } from '../../platform/json/read-value.ts'
import type { ParsedFinding } from './report/parsed-report.ts'

const FIXTURES = new URL('../../../test/fixtures/', import.meta.url)

/** Real files and the list in each whose entries have findings independently of each other. */
const FILES: [string, (document: JsonObject) => unknown[]][] = [
  ['sarif/snyk.sarif', ({ runs }) => list(runs)[0]?.results as unknown[]],
  ['sarif/gitleaks.sarif', ({ runs }) => list(runs)[0]?.results as unknown[]],
  ['sarif/suppressions.sarif', ({ runs }) => list(runs)[0]?.results as unknown[]],
  ['cyclonedx/vex-with-version-ranges.json', ({ vulnerabilities }) => list(vulnerabilities)],
  ['spdx/security-references.json', ({ packages }) => list(packages)],
  ['spdx/vex-3.0.json', (document) => list(document['@graph'])],
]

const list = (value: unknown) => value as JsonObject[]

function load(file: string, entriesOf: (document: JsonObject) => unknown[]) {
  const document = JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8'))
  const entries = entriesOf(document)
  return {
    count: entries.length,
    /** The findings of the document with these of its entries, in this order. */
    async read(chosen: number[]): Promise<ParsedFinding[]> {
      const copy = structuredClone(document)
      entriesOf(copy).splice(0, entries.length, ...chosen.map((index) => structuredClone(entries[index])))
      return read(copy)
    },
  }
}

async function read(document: unknown): Promise<ParsedFinding[]> {
  return (await parseReport(document)).findings
}

const all = (count: number) => Array.from({ length: count }, (_, index) => index)
const sorted = (findings: ParsedFinding[]) => findings.map((finding) => JSON.stringify(finding)).sort()

for (const [file, entriesOf] of FILES) {
  test(`${file}: the findings do not depend on the order of the entries`, async () => {
    const { count, read } = load(file, entriesOf)
    const before = sorted(await read(all(count)))
    assert.ok(before.length > 0)
    const orders = fc.shuffledSubarray(all(count), { minLength: count })
    await fc.assert(
      fc.asyncProperty(orders, async (order) => assert.deepEqual(sorted(await read(order)), before)),
      { numRuns: 20 },
    )
  })
}

for (const [file, entriesOf] of FILES.filter(([name]) => name !== 'spdx/vex-3.0.json')) {
  test(`${file}: each entry has its own findings, and a repeated entry repeats them`, async () => {
    const { count, read } = load(file, entriesOf)
    const each = await Promise.all(all(count).map(async (index) => sorted(await read([index]))))
    const chosen = fc.array(fc.nat(count - 1), { maxLength: 2 * count })
    await fc.assert(
      fc.asyncProperty(chosen, async (indexes) => {
        assert.deepEqual(sorted(await read(indexes)), indexes.flatMap((index) => each[index] ?? []).sort())
      }),
      { numRuns: 20 },
    )
  })
}

test('a report that was generated again, with other times and UUIDs, has the same findings', async () => {
  const uuids = fc.uniqueArray(fc.uuid(), { minLength: 60, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(uuids, fc.date({ noInvalidDate: true }), async (ids, date) => {
      for (const [file] of FILES) {
        const text = readFileSync(new URL(file, FIXTURES), 'utf8')
        assert.deepEqual(
          sorted(await read(JSON.parse(madeAgain(text, ids, date)))),
          sorted(await read(JSON.parse(text))),
        )
      }
    }),
    { numRuns: 10 },
  )
})

/** The text with new UUIDs and times; equal UUIDs stay equal. */
function madeAgain(text: string, ids: string[], date: Date): string {
  const renamed = new Map<string, string>()
  const stamp = new Date(Math.abs(date.getTime()) % Date.UTC(2100)).toISOString()
  return text
    .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, (id) => {
      const known = renamed.get(id) ?? (ids[renamed.size % ids.length] as string)
      renamed.set(id, known)
      return known
    })
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, stamp)
}
