import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitColumns } from './fit-columns.ts'

const NAME = { key: 'name', width: 'minmax(0, 3fr)' }
const STATUS = { key: 'status', width: '7rem' }
const OWNER = { key: 'owner', width: 'minmax(0, 1fr)', from: 'md' } as const
const COUNT = { key: 'count', width: '5rem', from: 'lg' } as const
const AGE = { key: 'age', width: '6rem', from: 'lg' } as const
const COLUMNS = [NAME, OWNER, COUNT, STATUS, AGE]

const keysAt = (width: number, hasCheckbox = false) => fitColumns(COLUMNS, width, hasCheckbox).map(({ key }) => key)

test('a wide list has all columns, and so has one of unknown width', () => {
  assert.deepEqual(keysAt(1200), ['name', 'owner', 'count', 'status', 'age'])
  assert.deepEqual(keysAt(0), ['name', 'owner', 'count', 'status', 'age'])
})

test('columns of lg go first, the last one before the others, then those of md', () => {
  assert.deepEqual(keysAt(650), ['name', 'owner', 'count', 'status'])
  assert.deepEqual(keysAt(590), ['name', 'owner', 'status'])
  assert.deepEqual(keysAt(400), ['name', 'status'])
})

test('columns without a size always stay', () => {
  assert.deepEqual(keysAt(100), ['name', 'status'])
})

test('the checkbox takes room', () => {
  const width = [...Array(1000).keys()].find((each) => keysAt(each + 100).length === COLUMNS.length) as number
  assert.equal(keysAt(width + 100).length, COLUMNS.length)
  assert.equal(keysAt(width + 100, true).length, COLUMNS.length - 1)
})
