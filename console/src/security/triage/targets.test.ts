import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTargets, dismissable, reopenable, type Target } from './targets.ts'

const target = (id: string, status: string): Target => ({
  ...{ id, title: id, findings: 1, isVulnerability: false },
  ...{ isOpen: status === 'open', isDismissed: status === 'dismissed' },
})
const all = { type: 'issue', items: [target('a', 'open'), target('b', 'dismissed'), target('c', 'fixed')] } as const

test('only what is open is dismissed, and only what is dismissed is reopened', () => {
  const targets = { ...all, items: [...all.items] }
  assert.deepEqual(
    dismissable(targets).items.map(({ id }) => id),
    ['a'],
  )
  assert.equal(dismissable(targets).skipped, 2)
  assert.deepEqual(
    reopenable(targets).items.map(({ id }) => id),
    ['b'],
  )
})

test('counts are grouped and in the right number', () => {
  assert.deepEqual([countTargets('issue', 1), countTargets('finding', 2)], ['1 issue', '2 findings'])
  assert.match(countTargets('alert', 1000), /^1.000 alerts$/)
})
