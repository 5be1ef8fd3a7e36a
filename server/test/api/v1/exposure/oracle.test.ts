import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { HostSource } from '../../../../src/codehosts/host-event.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { deployOnHost, importRecords, sendSbom } from '../../../support/exposure-world.ts'
import { hostRepository, insertConnection } from '../../../support/host-objects.ts'
import type { Json } from '../../../support/json.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** Versions of one package; 0 is a document without it. */
type Document = {
  kind: 'document'
  repository: number
  commit: number
  category: number
  version: number
  tracked: boolean
}
type Deploy = { kind: 'deploy'; repository: number; environment: number; commit: number }
/** The first version that is fixed. */
type Advisory = { kind: 'advisory'; fixed: number; withdrawn: boolean }
type Happening = Document | Deploy | Advisory

const any = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('document' as const),
      repository: fc.nat({ max: 1 }),
      commit: fc.nat({ max: 2 }),
      category: fc.nat({ max: 1 }),
      version: fc.nat({ max: 3 }),
      tracked: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('deploy' as const),
      repository: fc.nat({ max: 1 }),
      environment: fc.nat({ max: 1 }),
      commit: fc.nat({ max: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('advisory' as const),
      fixed: fc.integer({ min: 1, max: 4 }),
      withdrawn: fc.boolean(),
    }),
  },
)

type Said = 'affected' | 'not_affected' | 'unknown'

/** What the answer must say of each place, from the story alone. Positions are times. */
function judge(story: readonly Happening[]): Map<string, { said: Said; versions: number[] }> {
  const advisory = story.findLast((one) => one.kind === 'advisory')
  const isAffected = (version: number) =>
    version > 0 && advisory?.kind === 'advisory' && !advisory.withdrawn && version < advisory.fixed
  const places = new Map<string, { said: Said; versions: number[] }>()
  for (const [at, one] of story.entries()) {
    if (one.kind !== 'deploy') continue
    const documents = story.flatMap((each, time) =>
      each.kind === 'document' && each.repository === one.repository ? [{ ...each, time }] : [],
    )
    // A stream for each category and branch.
    const toNewest = (some: typeof documents) => [
      ...new Map(some.map((each) => [`${each.category} ${each.tracked}`, each])).values(),
    ]
    const own = toNewest(documents.filter(({ commit }) => commit === one.commit))
    const inferred = toNewest(documents.filter(({ tracked, time }) => tracked && time < at))
    const seen = own.length > 0 ? own : inferred
    const versions = [...new Set(seen.map(({ version }) => version).filter(isAffected))].sort()
    const said = versions.length > 0 ? 'affected' : own.length > 0 ? 'not_affected' : 'unknown'
    places.set(`acme/${one.repository} ${one.environment}`, { said, versions })
  }
  return places
}

type World = { caller: Caller; source: HostSource; at: number }
const toRepository = (index: number) => hostRepository({ id: `70${index}`, full_name: `acme/${index}` })
const toSha = (index: number) => String(index + 1).repeat(40)

async function happen({ caller, source, at }: World, one: Happening): Promise<void> {
  if (one.kind === 'advisory') return importAdvisory(one)
  if (one.kind === 'deploy') {
    const deploy = { id: String(100 + at), commit: toSha(one.commit), environment: `eu-${one.environment}` }
    await deployOnHost(api, source, { ...deploy, repository: toRepository(one.repository) })
  } else {
    const parts = ['pkg:npm/other@1.0.0', ...(one.version === 0 ? [] : [`pkg:npm/lib@${one.version}.0.0`])]
    const sent = { repository: `acme/${one.repository}`, commitSha: toSha(one.commit), category: `c${one.category}` }
    const branch = one.tracked ? { gitRef: 'main', tracked: true } : { gitRef: 'feature', tracked: false }
    await sendSbom(api, caller, parts, { ...sent, ...branch })
  }
}

let imports = 0
function importAdvisory({ fixed, withdrawn }: Advisory): Promise<void> {
  const day = new Date(Date.UTC(2026, 0, 1) + ++imports * 60_000).toISOString()
  return importRecords(api, {
    ...{ id: 'GHSA-aaaa-bbbb-cccc', aliases: ['CVE-2026-20000'], modified: day, ...(withdrawn && { withdrawn: day }) },
    affected: [
      {
        package: { ecosystem: 'npm', name: 'lib' },
        ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: `${fixed}.0.0` }] }],
      },
    ],
  })
}

async function readPlaces({ caller }: World): Promise<Map<string, { said: Said; versions: number[] }>> {
  const { status, body } = await api.request('GET', '/v1/exposure/CVE-2026-20000', { key: caller.key })
  assert.equal(status, 200, JSON.stringify(body))
  const live = (await api.request('GET', '/v1/deployments?live=true&limit=100', { key: caller.key })).body.data
  const { affected, unknown, counts } = body.data
  assert.equal(counts.live_deployments, live.length)
  assert.equal(counts.affected + counts.not_affected + counts.unknown, live.length)
  return new Map(
    live.map((deployment: Json) => {
      const own = affected.filter((one: Json) => one.deployment_id === deployment.id)
      const isUnknown = unknown.some((one: Json) => one.deployment_id === deployment.id)
      const said = own.length > 0 ? 'affected' : isUnknown ? 'unknown' : 'not_affected'
      const versions = own.map((one: Json) => Number.parseInt(one.component.version, 10)).sort()
      return [`${deployment.repository_full_name} ${deployment.environment.slice(3)}`, { said, versions }]
    }),
  )
}

const sorted = <Value>(map: Map<string, Value>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

test('the answer equals that of a brute force over the story, whatever arrives when', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(any, { minLength: 3, maxLength: 14 }),
      fc.record({ fixed: fc.integer({ min: 1, max: 4 }) }),
      async (middle, { fixed }) => {
        const caller = await api.caller()
        const source = await insertConnection(api.services.sql, caller.orgId, toRepository(0))
        const story: Happening[] = [{ kind: 'advisory', fixed, withdrawn: false }, ...middle]
        for (const [at, one] of story.entries()) {
          await happen({ caller, source, at }, one)
          api.clock.advance(60_000)
        }
        assert.deepEqual(sorted(await readPlaces({ caller, source, at: 0 })), sorted(judge(story)))
      },
    ),
    { numRuns: 30 },
  )
})
