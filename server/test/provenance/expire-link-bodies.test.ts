import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { DAY_MS } from '../../src/platform/clock.ts'
import { settleBreaks } from '../../src/provenance/chain/acknowledge-breaks.ts'
import { expireLinkBodies } from '../../src/provenance/chain/expire-link-bodies.ts'
import type { ChainKey } from '../../src/provenance/chain/link.ts'
import { verifyChains } from '../../src/provenance/chain/verify-chains.job.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { appendAmendment, appendChange, changeId, growChain, tamper, verifyLink } from '../support/chains.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function newChain(): Promise<ChainKey> {
  return { org_id: (await api.caller()).orgId, provider: 'github', repository_id: '1' }
}

const expire = ({ org_id }: ChainKey, days: number) =>
  expireLinkBodies(api.services, { org_id, since: new Date(api.clock.now().getTime() - days * DAY_MS) })

const landedDaysAgo = (chain: ChainKey, number: number, days: number) =>
  appendChange(api.services, chain, { number, landed_at: new Date(api.clock.now().getTime() - days * DAY_MS) })

type Stored = { index: number; body: string | null; tombstone: string | null }

async function linksOf({ org_id }: ChainKey): Promise<Stored[]> {
  return api.services.sql<Stored[]>`
    select index, body, tombstone
    from chain_links
    where org_id = ${org_id}
    order by index`
}

const breaksOf = async (chain: ChainKey) => (await verifyChains(api.services, [chain])).breaks

test('the bodies of changes that landed before the retention are replaced by tombstones with their SHA-256', async () => {
  const chain = await newChain()
  await landedDaysAgo(chain, 1, 40)
  await landedDaysAgo(chain, 2, 10)
  await landedDaysAgo(chain, 3, 35)
  const before = await linksOf(chain)
  assert.equal(await expire(chain, 30), 2)
  const after = await linksOf(chain)
  assert.deepEqual(
    after.map(({ body }) => body === null),
    [true, false, true],
  )
  const sha256 = createHash('sha256')
    .update(before[0]?.body ?? '')
    .digest('hex')
  const tombstone = JSON.parse(after[0]?.tombstone ?? '')
  assert.deepEqual([tombstone.body_sha256, tombstone.expired_at], [sha256, api.clock.now().toISOString()])
  assert.ok(!after[0]?.tombstone?.includes('Ada'))
  assert.deepEqual(await breaksOf(chain), [])
  assert.equal((await verifyLink(api.services, chain, 0)).state, 'intact')
  assert.equal(await expire(chain, 30), 0)
})

test('a chain of several intervals verifies after all bodies were removed, and grows', async () => {
  const chain = await newChain()
  await growChain(api.services, chain, 150)
  api.clock.advance(2 * DAY_MS)
  assert.equal(await expire(chain, 1), 150)
  await growChain(api.services, chain, 10, 150)
  assert.deepEqual(await breaksOf(chain), [])
  assert.equal((await verifyLink(api.services, chain, 149)).state, 'intact')
})

test('an amendment is removed when it is older than the retention itself', async () => {
  const chain = await newChain()
  await landedDaysAgo(chain, 1, 40)
  await appendAmendment(api.services, chain, 1, ['check_failed'])
  assert.equal(await expire(chain, 30), 1)
  api.clock.advance(31 * DAY_MS)
  assert.equal(await expire(chain, 30), 1)
  assert.deepEqual(await breaksOf(chain), [])
})

const FORGED: [forgery: string, statement: (chain: ChainKey) => Promise<unknown>][] = [
  [
    'a body that is removed without a tombstone',
    ({ org_id }) => tamper(api, (tx) => tx`update chain_links set body = null where org_id = ${org_id} and index = 1`),
  ],
  [
    'a forged tombstone',
    ({ org_id }) =>
      tamper(
        api,
        (tx) => tx`
          update chain_links
          set body = null,
            tombstone = (select tombstone from chain_links where org_id = ${org_id} and index = 0)
          where org_id = ${org_id}
            and index = 1`,
      ),
  ],
  [
    'a tombstone with another digest',
    ({ org_id }) =>
      tamper(
        api,
        (tx) => tx`
          update chain_links
          set tombstone = replace(tombstone, '"body_sha256":"', '"body_sha256":"0')
          where org_id = ${org_id}
            and index = 0`,
      ),
  ],
  [
    'a change of the row of a change without its record',
    ({ org_id }) =>
      tamper(
        api,
        (tx) => tx`update changes set deviations = '{}' where org_id = ${org_id} and id = ${changeId('1', 1)}`,
      ),
  ],
]

for (const [forgery, statement] of FORGED) {
  test(`${forgery} is found`, async () => {
    const chain = await newChain()
    await appendChange(api.services, chain, {
      number: 1,
      landed_at: new Date(api.clock.now().getTime() - 40 * DAY_MS),
      deviations: ['no_review'],
    })
    await landedDaysAgo(chain, 2, 1)
    await expire(chain, 30)
    await api.services.sql`alter table chain_links drop constraint if exists chain_links_check`
    await statement(chain)
    assert.notDeepEqual(await breaksOf(chain), [])
  })
}

test('a changed date of landing does not remove a body', async () => {
  const chain = await newChain()
  await landedDaysAgo(chain, 1, 1)
  await tamper(api, (tx) => tx`update changes set created_at = '2020-01-01' where org_id = ${chain.org_id}`)
  assert.equal(await expire(chain, 30), 0)
  await verifyLink(api.services, chain, 0)
  await settleBreaks(api.services, chain, { principal: COMMAND_LINE, note: 'A test' })
  assert.equal(await expire(chain, 30), 0)
})

test('a broken chain keeps its bodies until the break is acknowledged', async () => {
  const chain = await newChain()
  await landedDaysAgo(chain, 1, 40)
  await tamper(api, (tx) => tx`update chain_links set body = body || ' ' where org_id = ${chain.org_id}`)
  assert.equal(await expire(chain, 30), 0)
  await settleBreaks(api.services, chain, { principal: COMMAND_LINE, note: 'A test' })
  assert.equal(await expire(chain, 30), 1)
  assert.deepEqual(await breaksOf(chain), [])
})
