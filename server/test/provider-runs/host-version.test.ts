import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { buildIsNewer } from '../../src/codehosts/host-version.store.ts'
import { computeHostVersion, isNewerVersion } from '../../src/codehosts/host-version.ts'
import { startTestApi, type TestApi } from '../support/api.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

const at = (seconds: number, ms = 0) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds, ms))

const learned = fc.option(
  fc.record({ by: fc.constantFrom('told' as const, 'read' as const), at: fc.nat({ max: 4 }).map((ms) => at(1, ms)) }),
  { nil: undefined },
)

const facts = {
  attempt: fc.nat({ max: 2 }),
  updated_at: fc.option(fc.nat({ max: 1 }).map((seconds) => at(seconds))),
  state: fc.nat({ max: 2 }),
  content: fc.nat({ max: 1 }),
}
const told = fc.record(facts).map((version) => computeHostVersion(version))
const anyVersion = fc.oneof(
  told,
  fc.record({ ...facts, learned }).map((version) => computeHostVersion(version)),
  // As earlier releases have stored them.
  told.map((version) => version.replace(/ t$/, '')),
)

/** The version that stays after some have arrived in this order. */
function getLast(versions: readonly string[]): string {
  return versions.reduce((stored, given) => (isNewerVersion(given, stored) ? given : stored))
}

test('the database and the program agree which version is newer', async () => {
  const { sql } = api.services
  const pairs = fc.sample(fc.tuple(anyVersion, anyVersion), 500)
  const [given, stored] = [pairs.map(([one]) => one), pairs.map(([, other]) => other)]
  const rows = await sql<{ newer: boolean }[]>`
    select ${buildIsNewer(sql, sql`pair.given`, sql`pair.stored`)} as newer
    from unnest(${given}::text[], ${stored}::text[]) with ordinality pair (given, stored, place)
    order by place`
  assert.deepEqual(
    rows.map(({ newer }) => newer),
    pairs.map(([one, other]) => isNewerVersion(one, other)),
  )
})

test('of versions that were told, the same stays in every order', () => {
  const shuffled = fc
    .array(told, { minLength: 1, maxLength: 6 })
    .chain((versions) =>
      fc.tuple(
        fc.constant(versions),
        fc.shuffledSubarray([...versions, ...versions], { minLength: 2 * versions.length }),
      ),
    )
  fc.assert(fc.property(shuffled, ([versions, arrived]) => assert.equal(getLast(arrived), getLast(versions))))
})

test('within one second, what is read wins over what was learned before, and is not replaced by it', () => {
  const version = (state: number, by: 'told' | 'read', ms: number) =>
    computeHostVersion({ updated_at: at(1), state, content: state, learned: { by, at: at(1, ms) } })
  const earlier = [version(2, 'told', 100), version(1, 'read', 200)]
  for (const state of [0, 1, 2]) {
    const read = version(state, 'read', 300)
    for (const other of earlier) assert.equal(getLast([other, read]), getLast([read, other]))
    for (const other of earlier) assert.ok(getLast([read, other]).startsWith(read.slice(0, 30)))
  }
  // What was told later is newer only if its state is: webhooks arrive in any order.
  assert.equal(getLast([version(1, 'read', 300), version(2, 'told', 400)]), version(2, 'told', 400))
  assert.equal(getLast([version(1, 'read', 300), version(0, 'told', 400)]), version(1, 'read', 300))
})
