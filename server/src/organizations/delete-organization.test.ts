import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sortForDeletion } from './delete-organization.ts'

test('a table comes after all that refer to it, and access goes first where it can', () => {
  const tables = ['runs', 'reports', 'artifacts', 'members', 'roles', 'accounts']
  const references = [
    { child: 'reports', parent: 'runs' },
    { child: 'artifacts', parent: 'reports' },
    { child: 'members', parent: 'roles' },
    { child: 'members', parent: 'users' },
    { child: 'accounts', parent: 'members' },
  ]
  const order = sortForDeletion(tables, references)
  assert.deepEqual(order.toSorted(), tables.toSorted())
  for (const { child, parent } of references)
    if (tables.includes(parent)) assert.ok(order.indexOf(child) < order.indexOf(parent), `${child} ${parent}`)
})

test('tables that refer to each other are an error', () => {
  const references = [
    { child: 'a', parent: 'b' },
    { child: 'b', parent: 'a' },
  ]
  assert.throws(() => sortForDeletion(['a', 'b'], references), /circle: a, b/)
})
