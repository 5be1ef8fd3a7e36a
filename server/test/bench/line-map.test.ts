import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type FileMap, mapStep } from '../../bench/tracking/line-map.ts'

test('lines that did not change are kept, also in a renamed file', () => {
  const before = words('alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot')
  const maps = mapBetween({ 'a.txt': before }, { 'b.txt': `inserted before all\n${before}` })
  assert.deepEqual(maps['a.txt'], { to: 'b.txt', kept: [[1, 2, 6]], edited: [], moved: [], unsure: [] })
})

test('a line changed in one word is edited', () => {
  const maps = mapBetween(
    { 'a.txt': words('alpha', 'run(command, shell=True)', 'charlie') },
    { 'a.txt': words('alpha', 'run(command, shell=True, check=True)', 'charlie') },
  )
  assert.deepEqual(maps['a.txt']?.edited, [[2, 2, 1]])
})

test('a statement broken into several lines is edited to its first line', () => {
  const maps = mapBetween(
    { 'a.txt': words('alpha', "run('first argument', second, third)", 'charlie') },
    { 'a.txt': words('alpha', 'run(', '    "first argument",', '    second,', '    third,', ')', 'charlie') },
  )
  assert.deepEqual(maps['a.txt']?.edited, [[2, 2, 4]])
  assert.deepEqual(maps['a.txt']?.kept, [
    [1, 1, 1],
    [3, 7, 1],
  ])
})

test('a block that was cut from one file and pasted into another is moved', () => {
  const block = ['first line of it', 'second line of it', 'third line of it']
  const maps = mapBetween(
    { 'a.txt': words('alpha', ...block, 'bravo'), 'b.txt': words('charlie', 'delta') },
    { 'a.txt': words('alpha', 'bravo'), 'b.txt': words('charlie', ...block.map((line) => `  ${line}`), 'delta') },
  )
  assert.deepEqual(maps['a.txt']?.moved, [[2, 2, 3, 'b.txt']])
})

test('which of two equal neighbours was deleted is unsure', () => {
  const maps = mapBetween(
    { 'a.txt': words('alpha', 'assert it', 'assert it', 'bravo') },
    { 'a.txt': words('alpha', 'assert it', 'bravo') },
  )
  assert.deepEqual(maps['a.txt']?.unsure, [[2, 2]])
  assert.deepEqual(maps['a.txt']?.kept.flat().slice(0, 3), [1, 1, 1])
})

test('a line that was replaced by another is deleted', () => {
  const maps = mapBetween(
    { 'a.txt': words('alpha', 'import telnetlib', 'bravo') },
    { 'a.txt': words('alpha', 'yield from x', 'bravo') },
  )
  assert.deepEqual(maps['a.txt'], {
    to: 'a.txt',
    kept: [
      [1, 1, 1],
      [3, 3, 1],
    ],
    edited: [],
    moved: [],
    unsure: [],
  })
})

type Files = Record<string, string>

/** Commits both states of a repository and maps the lines of all its files. */
function mapBetween(before: Files, after: Files): Record<string, FileMap> {
  const directory = mkdtempSync(join(tmpdir(), 'line-map-test-'))
  const git = (...args: string[]) => execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8' }).trim()
  const commit = (files: Files) => {
    git('rm', '-r', '--quiet', '--ignore-unmatch', '.')
    for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text)
    git('add', '--all')
    git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '--message', 'state')
    return git('rev-parse', 'HEAD')
  }
  try {
    git('init', '--quiet')
    const [from, to] = [commit(before), commit(after)]
    const paths = { oldPaths: new Set(Object.keys(before)), newPaths: new Set(Object.keys(after)) }
    return mapStep(join(directory, '.git'), { from, to, ...paths }).files
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function words(...lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
