import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { OPERATOR } from '../../../src/audit/audit.store.ts'
import { assignInventoryMatching } from '../../../src/security/matches/match-components.job.ts'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { advisory, clearIntel, importRecords, listMatches, sendSbom } from '../../support/inventory.ts'
import { drainQueue } from '../../support/queue.ts'

const HISTORIES = 12

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const PACKAGES = ['a', 'b', 'c'] as const
const IDS = ['CVE-2024-1', 'GHSA-1', 'GHSA-2', 'PYSEC-3'] as const

type Place = { name: string; version: number; path: string }
type Document = { tool: string; category: string; parts: Place[] }
type Statement = { id: string; name: string; fixed: number | null; aliases: string[]; withdrawn: boolean }
type Step = { document: Document } | { statement: Statement } | { work: true }

const places = fc.record({
  name: fc.constantFrom(...PACKAGES),
  version: fc.integer({ min: 1, max: 4 }),
  path: fc.constantFrom('package.json', 'web/package.json'),
})
const documents = fc.record({
  tool: fc.constantFrom('syft', 'trivy'),
  category: fc.constantFrom('one', 'two'),
  parts: fc.array(places, { minLength: 0, maxLength: 6 }),
})
const statements = fc.record({
  id: fc.constantFrom(...IDS),
  name: fc.constantFrom(...PACKAGES),
  fixed: fc.option(fc.integer({ min: 2, max: 4 }), { nil: null }),
  aliases: fc.subarray([...IDS], { maxLength: 2 }),
  withdrawn: fc.boolean(),
})
const histories = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ document: documents }) },
    { weight: 4, arbitrary: fc.record({ statement: statements }) },
    { weight: 1, arbitrary: fc.constant<Step>({ work: true }) },
  ) as fc.Arbitrary<Step>,
  { minLength: 3, maxLength: 9 },
)

/** What should be open, from the newest document of each tool and the newest version of each record. */
function expectOpen(history: readonly Step[]): string[] {
  const newest = new Map<string, Document>()
  const records = new Map<string, Statement>()
  for (const step of history) {
    if ('document' in step) newest.set(`${step.document.category} ${step.document.tool}`, step.document)
    if ('statement' in step) records.set(step.statement.id, step.statement)
  }
  const groupOf = (id: string) => {
    const group = new Set([id])
    for (let size = 0; size < group.size; ) {
      size = group.size
      for (const { id: own, aliases } of records.values())
        for (const alias of aliases) {
          if (group.has(own)) group.add(alias)
          if (group.has(alias)) group.add(own)
        }
    }
    return [...group].sort()
  }
  const open = new Set<string>()
  for (const { category, parts } of newest.values()) {
    for (const { name, version, path } of parts) {
      for (const { id } of records.values()) {
        const ids = groupOf(id)
        const isAffected = [...records.values()].some(
          (record) =>
            ids.includes(record.id) &&
            !record.withdrawn &&
            record.name === name &&
            (record.fixed === null || version < record.fixed),
        )
        if (isAffected) open.add(JSON.stringify([category, path, name, `${version}.0.0`, ids]))
      }
    }
  }
  return [...open].sort()
}

async function listOpen(caller: Caller): Promise<string[]> {
  const found = await listMatches(api, caller, { state: 'open' })
  return found
    .map(({ category, location, package_name, package_version, vuln_ids }) =>
      JSON.stringify([category, location.path, package_name, package_version, [...vuln_ids].sort()]),
    )
    .sort()
}

async function send(caller: Caller, { tool, category, parts }: Document): Promise<void> {
  const components = parts.map(({ name, version, path }) => ({ purl: `pkg:npm/${name}@${version}.0.0`, path }))
  // A document that lacks most of what was there is confirmed, so that it closes all of it.
  await sendSbom(api, caller, components, { tool, category, complete: true })
}

const say = ({ id, name, fixed, aliases, withdrawn }: Statement) =>
  importRecords(
    api.services,
    advisory(
      id,
      { name, fixed: fixed === null ? null : `${fixed}.0.0` },
      { aliases: aliases.filter((alias) => alias !== id), ...(withdrawn && { withdrawn: '2026-01-02T00:00:00Z' }) },
    ),
  )

test('in any order, what is open is what the newest documents and advisories say, and a rematch agrees', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const caller = await api.caller()
      await clearIntel(api.services)
      for (const step of history) {
        if ('document' in step) await send(caller, step.document)
        else if ('statement' in step) await say(step.statement)
        else await drainQueue(api)
      }
      await drainQueue(api)
      const found = await listOpen(caller)
      assert.deepEqual(found, expectOpen(history))
      for (const matching of ['off', 'on'] as const) {
        await assignInventoryMatching(api.services, caller.orgId, OPERATOR, matching)
        await drainQueue(api)
        assert.deepEqual(await listOpen(caller), matching === 'off' ? [] : found)
      }
    }),
    { numRuns: HISTORIES },
  )
})
