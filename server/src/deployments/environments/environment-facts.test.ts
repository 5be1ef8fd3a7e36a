import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProductionByEarlierRule, isProductionName } from './environment-facts.ts'

for (const name of [
  'production',
  'Prod',
  'prd',
  'live',
  'prod-eu',
  'eu/prod2',
  'prd01',
  'PROD_US',
  'shop (live)',
  'a.prod.b',
  'prod·eu',
])
  test(`${name} is production`, () => assert.ok(isProductionName(name)))

for (const name of [
  ...['pre-prod', 'preprod', 'non-prod', 'not live', 'no-prod', 'prod-test', 'prod-copy', 'prod mirror', 'live-demo'],
  ...['production-staging', 'stg2-prod', 'product', 'delivery', 'alive', 'staging', 'reproduction', '123', ''],
])
  test(`${name || 'no name'} is not production`, () => assert.ok(!isProductionName(name)))

test('the rule before took pre-prod, and not prd', () => {
  assert.deepEqual(['pre-prod', 'prd', 'prod-eu', 'live'].map(isProductionByEarlierRule), [true, false, true, true])
})
