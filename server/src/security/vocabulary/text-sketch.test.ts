import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compareSketches, computeSketch, countRuns } from './text-sketch.ts'

const BLOCK = 'resource "aws_s3_bucket" "logs" {\n  bucket = "logs"\n  acl    = "private"\n  force_destroy = true\n}'
const TAGGED = BLOCK.replace('\n}', '\n  tags = {\n    yor_trace = "8b1f"\n  }\n}')

test('a sketch has 32 bytes, whatever the text', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string()), (text, surroundings) => {
      assert.match(computeSketch(text, surroundings), /^[0-9a-f]{64}$/)
    }),
  )
})

test('white space and the kind of quotes do not matter', () => {
  assert.equal(compareSketches(computeSketch("f('a', 1)", null), computeSketch('\tf( "a",  1 )', null)).text, 1)
})

test('an edited text is alike, another text is not', () => {
  const [text, edited, other] = ['assert self.event.isSet()', 'assert self.event.is_set()', 'import subprocess']
  assert.ok(compareSketches(computeSketch(text, null), computeSketch(edited, null)).text > 0.4)
  assert.ok(compareSketches(computeSketch(text, null), computeSketch(other, null)).text < 0.2)
})

test('a block that gets a line keeps its head', () => {
  const { text, sameHead } = compareSketches(computeSketch(BLOCK, null), computeSketch(TAGGED, null))
  assert.ok(text > 0.4)
  assert.equal(sameHead, true)
  assert.equal(
    compareSketches(computeSketch(BLOCK, null), computeSketch(BLOCK.replace('"logs" {', '"data" {'), null)).sameHead,
    false,
  )
})

test('texts of one line have no head, and unknown surroundings are not the same', () => {
  assert.equal(compareSketches(computeSketch('eval(a)', null), computeSketch('eval(a)', null)).sameHead, false)
  assert.equal(compareSketches(computeSketch('eval(a)', null), computeSketch('eval(a)', null)).sameSurroundings, false)
  assert.equal(
    compareSketches(computeSketch('eval(a)', 'if a:'), computeSketch('eval(a)', 'if  a:')).sameSurroundings,
    true,
  )
})

test('a long text is richer than a short one', () => {
  assert.ok(countRuns(computeSketch('import os', null)) < 10)
  assert.ok(countRuns(computeSketch(BLOCK, null)) > 30)
})
