import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateByWeek } from './trends.ts'

test('the rate is that of the seven days that end with each day', () => {
  const day = (deployments: number, failed_deployments: number) => ({ deployments, failed_deployments })
  const days = [day(0, 0), day(2, 1), ...Array.from({ length: 6 }, () => day(0, 0)), day(3, 3)]
  const rates = rateByWeek(days)
  assert.deepEqual(rates.slice(0, 2), [null, 0.5])
  assert.equal(rates[7], 0.5)
  assert.equal(rates[8], 1)
})
