import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BoardCell, layOut } from './board.ts'

function cell(repository_full_name: string, environment: string, newer: string | null = null): BoardCell {
  return { repository_full_name, environment, running: null, newer: newer && { status: newer } } as unknown as BoardCell
}

const CELLS = [
  cell('acme/api', 'production', 'pending_approval'),
  cell('acme/api', 'dev'),
  cell('acme/shop', 'staging', 'failure'),
  cell('acme/web', 'production'),
]
const names = (attention?: 'waiting' | 'failed') => {
  const { rows, environments } = layOut(CELLS, attention)
  return [rows.map(({ repository }) => repository), environments]
}

test('a row for each repository, a column for each environment', () => {
  assert.deepEqual(names(), [
    ['acme/api', 'acme/shop', 'acme/web'],
    ['dev', 'staging', 'production'],
  ])
})

test('the board narrows to repositories where something waits or failed, with all their environments', () => {
  assert.deepEqual(names('waiting'), [['acme/api'], ['dev', 'production']])
  assert.deepEqual(names('failed'), [['acme/shop'], ['staging']])
})
