import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { COMMAND_LINE } from '../../src/audit/audit.store.ts'
import { settleBreaks } from '../../src/provenance/chain/acknowledge-breaks.ts'
import { findUnlinkedEntries } from '../../src/provenance/chain/link.store.ts'
import type { ChainKey } from '../../src/provenance/chain/link.ts'
import { readChainState } from '../../src/provenance/chain/read-chain-state.ts'
import { listChains, verifyChain, verifyChains } from '../../src/provenance/chain/verify-chains.job.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { appendChange, growChain, tamper, verifyLink } from '../support/chains.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

async function chainOf(length: number): Promise<ChainKey> {
  const { orgId } = await api.caller()
  const chain = { org_id: orgId, provider: 'github', repository_id: '1' }
  await growChain(api.services, chain, length)
  return chain
}

const changeBody = ({ org_id }: ChainKey, index: number) =>
  tamper(
    api,
    (tx) => tx`
      update chain_links
      set body = replace(body, '"main"', '"mine"')
      where org_id = ${org_id}
        and index = ${index}`,
  )

const acknowledge = (chain: ChainKey, note = 'A restored backup') =>
  settleBreaks(api.services, chain, { principal: COMMAND_LINE, note })

const stateOf = async (chain: ChainKey) => (await readChainState(api.services, chain)).state

const countBreaks = async (chain: ChainKey) => (await readChainState(api.services, chain)).breaks.length

test('a changed record is one break with the stored and the computed hash, stored once', async () => {
  const chain = await chainOf(70)
  const [{ hash }] = await api.services.sql<[{ hash: Buffer }]>`
    select hash
    from chain_links
    where org_id = ${chain.org_id}
      and index = 5`
  await tamper(api, (tx) => tx`update chain_links set body = body || ' ' where org_id = ${chain.org_id} and index = 5`)
  assert.equal(await stateOf(chain), 'intact')
  const { state, breaks } = await verifyLink(api.services, chain, 10)
  assert.equal(state, 'broken')
  const [first] = breaks
  assert.deepEqual([first?.index, first?.expected], [5, hash.toString('hex')])
  assert.match(first?.found ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual([first?.note, first?.acknowledged_at], [null, null])
  for (let walk = 0; walk < 2; walk += 1) await verifyChain(api.services, chain)
  await verifyLink(api.services, chain, 5)
  assert.equal(await countBreaks(chain), 1)
})

test('an acknowledgement ends the break, is audited, and covers everything that does not match', async () => {
  const chain = await chainOf(150)
  for (const index of [2, 140]) await changeBody(chain, index)
  assert.equal((await verifyLink(api.services, chain, 2)).state, 'broken')
  await acknowledge(chain)
  const { state, breaks } = await readChainState(api.services, chain)
  assert.equal(state, 'acknowledged')
  assert.deepEqual([...new Set(breaks.map(({ index }) => index))].sort(), [140, 2])
  assert.ok(breaks.every(({ note, acknowledged_at }) => note === 'A restored backup' && acknowledged_at !== null))
  const entries = await api.services.sql`
    select action, object_id, reason, details
    from audit_entries
    where org_id = ${chain.org_id}`
  const [entry] = entries
  assert.deepEqual([entries.length, entry?.action, entry?.object_id], [1, 'chain.acknowledge', 'github/1'])
  assert.equal(entry?.reason, 'A restored backup')
  assert.equal(entry?.details.breaks.length, breaks.length)
})

test('after an acknowledgement, known breaks stay known and appending goes on', async () => {
  const chain = await chainOf(66)
  await changeBody(chain, 3)
  await tamper(api, (tx) => tx`update chain_anchors set mac = sha256('x') where org_id = ${chain.org_id}`)
  await tamper(api, (tx) => tx`update provenance_chains set mac = sha256('x') where org_id = ${chain.org_id}`)
  await verifyLink(api.services, chain, 3)
  await acknowledge(chain)
  const count = await countBreaks(chain)
  await appendChange(api.services, chain, { number: 900, landed_at: api.clock.now() })
  const { breaks } = await verifyChains(api.services, [chain])
  assert.deepEqual(breaks, [])
  for (const index of [3, 65, 66]) assert.equal((await verifyLink(api.services, chain, index)).state, 'acknowledged')
  assert.equal(await countBreaks(chain), count)
})

const FURTHER: [change: string, statement: (chain: ChainKey) => Promise<unknown>][] = [
  [
    'the same link',
    ({ org_id }) =>
      tamper(api, (tx) => tx`update chain_links set body = body || ' ' where org_id = ${org_id} and index = 3`),
  ],
  ['another link', (chain) => changeBody(chain, 6)],
  [
    'another column of the same link',
    ({ org_id }) =>
      tamper(api, (tx) => tx`update chain_links set change_id = 'x' where org_id = ${org_id} and index = 3`),
  ],
  [
    'the note of the break',
    ({ org_id }) => tamper(api, (tx) => tx`update chain_breaks set note = 'Nothing' where org_id = ${org_id}`),
  ],
  [
    'the break, which is deleted',
    ({ org_id }) => tamper(api, (tx) => tx`delete from chain_breaks where org_id = ${org_id}`),
  ],
]

for (const [change, statement] of FURTHER) {
  test(`after an acknowledgement, a change of ${change} breaks the chain again`, async () => {
    const chain = await chainOf(8)
    await changeBody(chain, 3)
    await verifyLink(api.services, chain, 3)
    await acknowledge(chain)
    await statement(chain)
    assert.equal((await verifyLink(api.services, chain, 3)).state, 'broken')
    await acknowledge(chain, 'Again')
    assert.equal((await verifyLink(api.services, chain, 3)).state, 'acknowledged')
    assert.deepEqual((await verifyChains(api.services, [chain])).breaks, [])
  })
}

test('a break that is deleted twice is found twice', async () => {
  const chain = await chainOf(8)
  await changeBody(chain, 3)
  for (let time = 0; time < 3; time += 1) {
    await verifyLink(api.services, chain, 3)
    await acknowledge(chain)
    await tamper(
      api,
      (tx) =>
        tx`delete from chain_breaks where org_id = ${chain.org_id} and sequence = (select min(sequence) from chain_breaks where org_id = ${chain.org_id})`,
    )
    assert.equal(await stateOf(chain), 'broken')
  }
})

test('an acknowledgement is refused without a break, and without a note', async () => {
  const chain = await chainOf(3)
  await assert.rejects(acknowledge(chain), { code: 'chain_not_broken' })
  await changeBody(chain, 1)
  await assert.rejects(acknowledge(chain), { code: 'chain_not_broken' })
  await verifyLink(api.services, chain, 1)
  await assert.rejects(acknowledge(chain, ' '), { code: 'invalid_request' })
  await acknowledge(chain)
  await assert.rejects(acknowledge(chain), { code: 'chain_not_broken' })
})

test('a break that is acknowledged in the database stays open', async () => {
  const chain = await chainOf(3)
  await changeBody(chain, 1)
  await verifyLink(api.services, chain, 1)
  await tamper(
    api,
    (tx) => tx`update chain_breaks set note = 'ok', acknowledged_at = now() where org_id = ${chain.org_id}`,
  )
  assert.equal(await stateOf(chain), 'broken')
})

test('a chain that is restored to an earlier state leaves entries of the log without a link', async () => {
  const chain = await chainOf(3)
  const { sql } = api.services
  assert.deepEqual(await findUnlinkedEntries(sql), [])
  await sql`create table earlier as select * from provenance_chains where org_id = ${chain.org_id}`
  const { hash } = await appendChange(api.services, chain, { number: 900, landed_at: api.clock.now() })
  await tamper(api, async (tx) => {
    await tx`delete from provenance_chains where org_id = ${chain.org_id}`
    await tx`insert into provenance_chains select * from earlier`
    await tx`delete from chain_links where org_id = ${chain.org_id} and index = 3`
    await tx`delete from changes where org_id = ${chain.org_id} and link_index = 3`
  })
  assert.deepEqual((await verifyChains(api.services, [chain])).breaks, [])
  assert.deepEqual(await findUnlinkedEntries(sql), [hash])
})

test('a link with an index far behind does not keep the walk busy', async () => {
  const chain = await chainOf(3)
  await tamper(api, (tx) => tx`update chain_links set index = 2000000000 where org_id = ${chain.org_id} and index = 2`)
  const { breaks, links } = await verifyChains(api.services, [chain])
  assert.ok(breaks.length > 0)
  assert.equal(links, 3)
  assert.equal((await verifyLink(api.services, chain, 2_000_000_000)).state, 'broken')
})

test('a walk stops when its signal is aborted', async () => {
  const chain = await chainOf(3)
  const stopping = AbortSignal.abort(new Error('stopped'))
  await assert.rejects(verifyChains(api.services, listChains(api.services, chain.org_id), { stopping }), /stopped/)
})
