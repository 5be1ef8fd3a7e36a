import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/platform/ids.ts'
import type { ChainKey } from '../../src/provenance/chain/link.ts'
import { readChainState, verifyLink } from '../../src/provenance/chain/read-chain-state.ts'
import { verifyChain } from '../../src/provenance/chain/verify-chain.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { appendAmendment, appendChange, growChain } from '../support/chains.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

function newChain(): ChainKey {
  return { org_id: newUuid(api.clock.now()), provider: 'github', repository_id: '1' }
}

test('an intact chain verifies', async () => {
  const chain = newChain()
  await growChain(api.services, chain, 140)
  await verifyChain(api.services, chain)
  const state = await readChainState(api.services, chain)
  const breaks = await api.services.sql`select index, part from chain_breaks`
  assert.deepEqual([...breaks], [])
  assert.deepEqual(state, { state: 'intact', breaks: [] })
  assert.equal((await verifyLink(api.services, chain, 70)).state, 'intact')
  assert.equal((await verifyLink(api.services, chain, 139)).state, 'intact')
})
