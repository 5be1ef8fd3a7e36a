import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { loadPlans } from '../src/organizations/load-plans.ts'
import { BUILT_IN_PLANS } from '../src/organizations/plan.ts'

let directory: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-plans-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function plansFile(content: unknown): Promise<string> {
  const file = join(directory, 'plans.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

test('without a file the built-in plans are in force', async () => {
  assert.deepEqual([...(await loadPlans(null)).values()], BUILT_IN_PLANS)
})

test('a file replaces the table and keeps its own order', async () => {
  const own = [...BUILT_IN_PLANS].reverse()
  assert.deepEqual([...(await loadPlans(await plansFile(own))).values()], own)
})

const [PLAN] = BUILT_IN_PLANS
const MISTAKES: [title: string, content: unknown, message: RegExp][] = [
  ['no JSON', '{', /plans\.json/],
  ['no list', {}, /plans\.json/],
  ['an empty list', [], /plans\.json/],
  ['an unknown feature', [{ ...PLAN, features: ['teleport'] }], /\/0\/features\/0/],
  ['an unknown field', [{ ...PLAN, price: 1 }], /\/0/],
  ['a negative limit', [{ ...PLAN, artifact_bytes_max: -1 }], /\/0\/artifact_bytes_max/],
  ['no retention', [{ ...PLAN, retention_days: 0 }], /\/0\/retention_days/],
  ['a name twice', [PLAN, PLAN], /free/],
]
for (const [title, content, message] of MISTAKES) {
  test(`a plans file with ${title} is refused with the name of the setting and the position`, async () => {
    const file = await plansFile(content)
    await assert.rejects(
      loadPlans(file),
      (error: Error) => /SHIPLOCK_PLANS_FILE/.test(error.message) && message.test(error.message),
    )
  })
}

test('a missing plans file is named', async () => {
  await assert.rejects(loadPlans(join(directory, 'none.json')), /SHIPLOCK_PLANS_FILE.*none\.json/)
})
