import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPathMistake } from './reserve-artifacts.ts'

const TAKEN = [
  'a',
  'dist/app.tar.gz',
  'a b/ü/🚀.txt',
  '...',
  '..a/b..',
  '.hidden/.env',
  'ab:c/d',
  'x'.repeat(500),
  '🚀'.repeat(500),
]

for (const path of TAKEN) {
  test(`accepted: ${path.slice(0, 20)}`, () => {
    assert.equal(findPathMistake(path), null)
  })
}

const REFUSED: [reason: string, path: string, message: RegExp][] = [
  ['no characters', '', /1 to 500/],
  ['501 characters', 'x'.repeat(501), /1 to 500/],
  ['501 characters outside the basic plane', '🚀'.repeat(501), /1 to 500/],
  ['..', '..', /\.\./],
  ['.. at the start', '../a', /\.\./],
  ['.. inside', 'a/../b', /\.\./],
  ['.. at the end', 'a/..', /\.\./],
  ['.', './a', /segment/],
  ['a leading /', '/etc/passwd', /relative/],
  ['a trailing /', 'a/', /segment/],
  ['an empty segment', 'a//b', /segment/],
  ['a drive', 'C:/a', /relative/],
  ['a drive without a slash', 'c:a', /relative/],
  ['another separator', 'a\\b', /must use \//],
  ['another separator before ..', '..\\a', /must use \//],
  ['a line break', 'a\nb', /control/],
  ['U+0000', 'a\0b', /control/],
  ['U+007F', 'a\x7fb', /control/],
  ['U+0085', 'a\x85b', /control/],
]

for (const [reason, path, message] of REFUSED) {
  test(`refused: ${reason}`, () => {
    assert.match(findPathMistake(path) ?? '', message)
  })
}
