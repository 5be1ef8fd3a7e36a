import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type HostsApart, startHostsApart } from '../support/hosts/hosts-apart.ts'

const MS_MAX = 5000

let apart: HostsApart

before(async () => {
  apart = await startHostsApart()
})
after(() => apart?.server.close())

/** The most places of the worker that the organization has for one of the hosts in trouble. */
async function countPlaces(): Promise<number> {
  const rows = await apart.server.sql<{ places: number }[]>`
    select count(*)::int as places
    from jobs
    where state = 'running'
      and (waits_for like '%gitlab' or waits_for like '%bitbucket')
    group by organization_id, waits_for`
  return Math.max(0, ...rows.map(({ places }) => places))
}

test('beside a host that hangs and one that limits, an event of another one is applied within five seconds', async () => {
  const quietMs = await apart.measureRun()
  apart.disturb()
  for (let round = 0; round < 3; round += 1) {
    const ms = await apart.measureRun()
    assert.ok(ms < MS_MAX, `${ms} ms, alone ${quietMs} ms`)
    assert.ok((await countPlaces()) <= 1)
  }
  // What is limited waits in the queue, and asks no more until then.
  const before = apart.bitbucket.requests.length
  await apart.measureRun()
  assert.ok(apart.bitbucket.requests.length - before <= 1)
})

test('beside a host that is dead, too', async () => {
  const { gitlab } = apart
  Object.assign(gitlab.trouble, { latencyMs: 0, down: 'refuse' })
  apart.flood(gitlab)
  for (let round = 0; round < 3; round += 1) assert.ok((await apart.measureRun()) < MS_MAX)
  assert.ok((await countPlaces()) <= 1)
})
