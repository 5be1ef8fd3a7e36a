import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { likeness, richness, sketchOf } from './text-sketch.ts'

const BLOCK = 'resource "aws_s3_bucket" "logs" {\n  bucket = "logs"\n  acl    = "private"\n  force_destroy = true\n}'
const TAGGED = BLOCK.replace('\n}', '\n  tags = {\n    yor_trace = "8b1f"\n  }\n}')

test('a sketch has 32 bytes, whatever the text', () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.string()), (text, surroundings) => {
      assert.match(sketchOf(text, surroundings), /^[0-9a-f]{64}$/)
    }),
  )
})

test('white space and the kind of quotes do not matter', () => {
  assert.equal(likeness(sketchOf("f('a', 1)", null), sketchOf('\tf( "a",  1 )', null)).text, 1)
})

test('an edited text is alike, another text is not', () => {
  const [text, edited, other] = ['assert self.event.isSet()', 'assert self.event.is_set()', 'import subprocess']
  assert.ok(likeness(sketchOf(text, null), sketchOf(edited, null)).text > 0.4)
  assert.ok(likeness(sketchOf(text, null), sketchOf(other, null)).text < 0.2)
})

test('a block that gets a line keeps its head', () => {
  const { text, sameHead } = likeness(sketchOf(BLOCK, null), sketchOf(TAGGED, null))
  assert.ok(text > 0.4)
  assert.equal(sameHead, true)
  assert.equal(likeness(sketchOf(BLOCK, null), sketchOf(BLOCK.replace('"logs" {', '"data" {'), null)).sameHead, false)
})

test('texts of one line have no head, and unknown surroundings are not the same', () => {
  assert.equal(likeness(sketchOf('eval(a)', null), sketchOf('eval(a)', null)).sameHead, false)
  assert.equal(likeness(sketchOf('eval(a)', null), sketchOf('eval(a)', null)).sameSurroundings, false)
  assert.equal(likeness(sketchOf('eval(a)', 'if a:'), sketchOf('eval(a)', 'if  a:')).sameSurroundings, true)
})

test('a long text is richer than a short one', () => {
  assert.ok(richness(sketchOf('import os', null)) < 10)
  assert.ok(richness(sketchOf(BLOCK, null)) > 30)
})
