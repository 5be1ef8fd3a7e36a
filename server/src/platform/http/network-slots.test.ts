import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from './api-error.ts'
import { serviceUnavailable } from './errors.ts'
import { NetworkSlots } from './network-slots.ts'

const createBusyError = () => serviceUnavailable('Busy.').retryAfter(10)

/** Takes slots and notes which were granted, in their order. */
function slotsOf() {
  const slots = new NetworkSlots({
    heldMax: 8,
    heldOfNetworkMax: 2,
    waitingMax: 100,
    waitingOfNetworkMax: 10,
    createBusyError,
  })
  const granted: string[] = []
  const refused: string[] = []
  const take = (network: string) => {
    const slot = slots.take(network)
    slot.granted.then(
      () => granted.push(network),
      () => refused.push(network),
    )
    return slot
  }
  const soFar = async () => {
    await Promise.resolve()
    return granted.splice(0).join(' ')
  }
  return { take, soFar, refused }
}

const isRefusal = (error: unknown) =>
  error instanceof ApiError && error.status === 503 && error.code === 'unavailable' && error.retryAfterSeconds === 10

test('the network that holds the fewest slots is served first, else the one that waits longest', async () => {
  const { take, soFar } = slotsOf()
  const held = [...'aabbccdd'].map(take)
  assert.equal(await soFar(), 'a a b b c c d d')
  for (const network of 'aeefe') take(network)
  assert.equal(await soFar(), '')
  held[0]?.release() // of a, which waits longest, but holds another slot
  held[2]?.release()
  assert.equal(await soFar(), 'e f')
  held[4]?.release()
  assert.equal(await soFar(), 'a')
  for (const slot of held) slot.release()
  assert.equal(await soFar(), 'e')
})

test('a slot is given back once, and one that waits leaves the queue', async () => {
  const { take, soFar } = slotsOf()
  const [first] = [take('a'), take('a')]
  const [left] = [take('a'), take('a'), take('a')]
  await soFar()
  left?.release()
  first?.release()
  first?.release()
  assert.equal(await soFar(), 'a')
})

test('503 for more than ten of a network that wait', async () => {
  const { take } = slotsOf()
  for (let count = 0; count < 12; count += 1) take('a')
  assert.throws(() => take('a'), isRefusal)
})

test('of a hundred that wait, the newest of the network with the most makes place for others', async () => {
  const { take, soFar, refused } = slotsOf()
  const takeMany = (network: string, count: number) => Array.from({ length: count }, () => take(network))
  const [first] = takeMany('a', 12)
  for (const network of 'bcd') takeMany(network, 12)
  for (const network of 'efghij') takeMany(network, 10)
  for (const network of 'kkkkkkkkk') take(network)
  assert.equal((await soFar()).split(' ').length, 8)
  assert.deepEqual(refused, [...'abcdefghi'])
  for (const network of 'ak') assert.throws(() => take(network), isRefusal)
  first?.release()
  assert.equal(await soFar(), 'e')
  take('k')
})
