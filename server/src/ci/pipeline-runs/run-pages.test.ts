import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptRunJson } from './run-pages.ts'

test('keeps what was read last, up to its size', () => {
  const kept = new KeptRunJson(10)
  const keep = (id: string, version: string, size: number) => kept.keep('org', { id, version }, Buffer.alloc(size))
  const has = (id: string, version: string) => kept.find('org', { id, version }) !== undefined
  keep('a', '1', 4)
  keep('b', '1', 4)
  keep('a', '2', 6)
  assert.deepEqual([has('a', '1'), has('a', '2'), has('b', '1')], [false, true, true])
  keep('c', '1', 4)
  assert.deepEqual([has('a', '2'), has('b', '1'), has('c', '1')], [true, false, true])
  keep('d', '1', 11)
  assert.deepEqual([has('a', '2'), has('c', '1'), has('d', '1')], [false, false, false])
})

test('does not keep a run without a version, nor finds it for another organization', () => {
  const kept = new KeptRunJson()
  kept.keep('org', { id: 'a', version: null }, Buffer.from('{}'))
  assert.equal(kept.find('org', { id: 'a', version: null }), undefined)
  kept.keep('org', { id: 'a', version: '1' }, Buffer.from('{}'))
  assert.equal(kept.find('other', { id: 'a', version: '1' }), undefined)
})
