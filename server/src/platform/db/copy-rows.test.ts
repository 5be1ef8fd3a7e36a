import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyBytes, copyField, copyFields } from './copy-rows.ts'

test('what separates fields and lines is escaped within them', () => {
  assert.equal(copyField('a\tb\nc\rd\\e'), 'a\\tb\\nc\\rd\\\\e')
  assert.equal(copyFields(['\t', '', '\\N', null, 1.5, false]), '\\t\t\t\\\\N\t\\N\t1.5\tfalse')
})

test('lists are array literals with any content', () => {
  assert.equal(copyField([]), '{}')
  assert.equal(copyField(['CWE-79', 'a"b', 'c\\d', '{,}', 'NULL']), '{"CWE-79","a\\\\"b","c\\\\\\\\d","{,}","NULL"}')
})

test('bytes are written as hex', () => {
  assert.equal(copyField(Buffer.from([0, 255])), '\\\\x00ff')
  assert.equal(copyBytes('00ff'), '\\\\x00ff')
  assert.equal(copyBytes(null), '\\N')
})
