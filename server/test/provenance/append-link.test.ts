import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { createUuid } from '../../src/platform/ids.ts'
import { type ChainKey, linkHash } from '../../src/provenance/chain/link.ts'
import { readChainState } from '../../src/provenance/chain/read-chain-state.ts'
import { listChains, verifyChains } from '../../src/provenance/chain/verify-chains.job.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { appendChange, growChain, tamper, verifyLink } from '../support/chains.ts'

const PROGRAM = new URL('../support/append-program.ts', import.meta.url).pathname

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const newChain = (): ChainKey => ({ org_id: createUuid(api.clock.now()), provider: 'github', repository_id: '1' })

const land = (chain: ChainKey, number: number) =>
  appendChange(api.services, chain, { number, landed_at: api.clock.now() })

type Stored = { index: number; previous_hash: Buffer | null; hash: Buffer; body: string }

async function linksOf({ org_id }: ChainKey): Promise<Stored[]> {
  return api.services.sql<Stored[]>`
    select index, previous_hash, hash, body
    from chain_links
    where org_id = ${org_id}
    order by index`
}

/** Every link has the next index, continues the one before, and is in the log. */
async function assertContinuous(chain: ChainKey, length: number): Promise<void> {
  const links = await linksOf(chain)
  assert.deepEqual(
    links.map(({ index }) => index),
    Array.from({ length }, (_, index) => index),
  )
  for (const [index, { previous_hash, hash, body }] of links.entries()) {
    assert.deepEqual(previous_hash, links[index - 1]?.hash ?? null)
    assert.deepEqual(hash, linkHash(previous_hash, body))
  }
  const { breaks } = await verifyChains(api.services, listChains(api.services, chain.org_id))
  assert.deepEqual(breaks, [])
}

function appendInProcess(chain: ChainKey, length: number, first: number): Promise<unknown[]> {
  const settings = { SHIPLOCK_DATA_DIR: api.services.config.dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' }
  const argument = JSON.stringify({ settings, database: api.database, chain, length, first })
  return once(spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'inherit', 'inherit'] }), 'exit')
}

test('the first link has no previous hash, and each later one names the hash before', async () => {
  const chain = newChain()
  const first = await land(chain, 1)
  const second = await land(chain, 2)
  assert.deepEqual([first.index, first.previous_hash], [0, null])
  assert.deepEqual([second.index, second.previous_hash], [1, first.hash])
  assert.match(second.hash, /^[0-9a-f]{64}$/)
  await assertContinuous(chain, 2)
})

test('parallel appends of this process and two others keep the chain without gaps, while it is verified', async () => {
  const chain = newChain()
  const others = Promise.all([appendInProcess(chain, 60, 1000), appendInProcess(chain, 60, 2000)])
  const own = [3000, 4000, 5000].map((first) => growChain(api.services, chain, 30, first))
  let done = false
  const ended = Promise.all([others, ...own]).then(([codes]) => {
    done = true
    return codes
  })
  while (!done) {
    const { breaks } = await verifyChains(api.services, listChains(api.services, chain.org_id))
    assert.deepEqual(breaks, [])
    const { length } = await linksOf(chain)
    if (length > 0) assert.equal((await verifyLink(api.services, chain, length - 1)).state, 'intact')
  }
  assert.deepEqual(await ended, [
    [0, null],
    [0, null],
  ])
  await assertContinuous(chain, 60 + 60 + 90)
})

test('a transaction that rolls back appends nothing', async () => {
  const chain = newChain()
  await land(chain, 1)
  await assert.rejects(land(chain, 1), { code: '23505' })
  await land(chain, 2)
  await assertContinuous(chain, 2)
})

const DAMAGES: [damage: string, statement: (chain: ChainKey) => Promise<unknown>][] = [
  [
    'the hash of the head is another',
    ({ org_id }) => tamper(api, (tx) => tx`update provenance_chains set head = sha256('x') where org_id = ${org_id}`),
  ],
  [
    'the head is shorter than the chain',
    ({ org_id }) => tamper(api, (tx) => tx`update provenance_chains set length = 1 where org_id = ${org_id}`),
  ],
  [
    'the head is missing',
    ({ org_id }) => tamper(api, (tx) => tx`delete from provenance_chains where org_id = ${org_id}`),
  ],
  [
    'the last link is missing',
    ({ org_id }) => tamper(api, (tx) => tx`delete from chain_links where org_id = ${org_id} and index = 2`),
  ],
  [
    'a link follows the head',
    ({ org_id }) =>
      tamper(
        api,
        (tx) => tx`
          insert into chain_links (
            org_id, provider, repository_id, index, kind, change_id, at, previous_hash, hash, body, mac
          )
          select org_id, provider, repository_id, 3, kind, change_id, at, hash, hash, body, mac
          from chain_links
          where org_id = ${org_id}
            and index = 2`,
      ),
  ],
]

for (const [damage, statement] of DAMAGES) {
  test(`a record is appended where ${damage}, and the chain is broken`, async () => {
    const chain = newChain()
    for (const number of [1, 2, 3]) await land(chain, number)
    await statement(chain)
    const appended = await land(chain, 4)
    assert.ok(appended.index >= 3)
    const last = (await linksOf(chain)).at(-1)
    assert.equal(last?.hash.toString('hex'), appended.hash)
    const { state, breaks } = await readChainState(api.services, chain)
    assert.equal(state, 'broken')
    assert.ok(breaks.length >= 1)
  })
}
