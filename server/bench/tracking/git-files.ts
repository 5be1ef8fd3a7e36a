import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that differs between two commits. Null: absent on that side. */
export type ChangedFile = { from: string | null; to: string | null }
/** Lines `oldCount` from `oldStart` became lines `newCount` from `newStart`, 1-based. */
export type Hunk = { oldStart: number; oldCount: number; newStart: number; newCount: number }

/** The ways of comparing two texts. A line map relies only on what all of them agree on. */
export const ALGORITHMS = [
  ['--diff-algorithm=myers'],
  ['--diff-algorithm=minimal'],
  ['--diff-algorithm=patience'],
  ['--diff-algorithm=histogram'],
  ['--diff-algorithm=myers', '--no-indent-heuristic'],
] as const

const LARGEST_OUTPUT = 2 ** 30

/** Files that differ between two commits, with renames and without copies. */
export function changedFiles(gitDirectory: string, from: string, to: string): ChangedFile[] {
  const unreadable = unreadablePaths(gitDirectory, [from, to])
  const excluded = unreadable.map((path) => `:(exclude,literal)${path}`)
  const renames = ['-M50%', '-l0', '--no-color', '--no-ext-diff']
  return parseNameStatus(
    git(gitDirectory, ['diff', '--name-status', '-z', ...renames, from, to, '--', '.', ...excluded]),
  )
}

/**
 * Texts of files at a commit, in the order of the paths. Null when the repository does not have
 * one.
 */
export function readFilesAt(gitDirectory: string, commit: string, paths: string[]): (string | null)[] {
  const input = paths.map((path) => `${commit}:${path}\n`).join('')
  const answer = run([`--git-dir=${gitDirectory}`, 'cat-file', '--batch'], input)
  let at = 0
  return paths.map(() => {
    const end = answer.indexOf('\n', at)
    const [, type, size] = answer.toString('utf8', at, end).split(' ').slice(-3)
    const start = end + 1
    at = type === 'blob' ? start + Number(size) + 1 : start
    return type === 'blob' ? answer.toString('utf8', start, at - 1) : null
  })
}

/**
 * Compares pairs of texts with every algorithm. Returns, per pair, one list of hunks per algorithm.
 */
export function compareTexts(pairs: (readonly [oldText: string, newText: string])[]): Hunk[][][] {
  const directory = mkdtempSync(join(tmpdir(), 'line-map-'))
  try {
    for (const side of ['old', 'new']) mkdirSync(join(directory, side))
    for (const [at, [oldText, newText]] of pairs.entries()) {
      writeFileSync(join(directory, 'old', `${at}`), oldText)
      writeFileSync(join(directory, 'new', `${at}`), newText)
    }
    const comparisons = ALGORITHMS.map((options) => hunksByFile(compareDirectories(options, directory)))
    return pairs.map((_, at) => comparisons.map((hunks) => hunks.get(at) ?? []))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function compareDirectories(options: readonly string[], directory: string): string {
  const plain = ['--no-index', '--no-renames', '-U0', '--text', '--no-color', '--no-ext-diff', '--inter-hunk-context=0']
  try {
    return run(['diff', ...plain, ...options, join(directory, 'old'), join(directory, 'new')]).toString('utf8')
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: Buffer }
    if (status !== 1) throw error
    return stdout.toString('utf8')
  }
}

function hunksByFile(diff: string): Map<number, Hunk[]> {
  const parts = diff.split(/^diff --git .*\/(\d+)"?$/m)
  return new Map(parts.flatMap((name, at) => (at % 2 === 1 ? [[Number(name), parseHunks(parts[at + 1] ?? '')]] : [])))
}

function parseHunks(diff: string): Hunk[] {
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map((match) => {
    const [oldStart, oldCount, newStart, newCount] = match
      .slice(1)
      .map((text) => (text === undefined ? 1 : Number(text)))
    return afterLine({
      oldStart: oldStart ?? 0,
      oldCount: oldCount ?? 0,
      newStart: newStart ?? 0,
      newCount: newCount ?? 0,
    })
  })
}

/** Git names the line before an empty range. This returns the line at which the range begins. */
function afterLine(hunk: Hunk): Hunk {
  return {
    ...hunk,
    oldStart: hunk.oldCount === 0 ? hunk.oldStart + 1 : hunk.oldStart,
    newStart: hunk.newCount === 0 ? hunk.newStart + 1 : hunk.newStart,
  }
}

function parseNameStatus(text: string): ChangedFile[] {
  const fields = text.split('\0')
  const files: ChangedFile[] = []
  for (let at = 0; at + 1 < fields.length; ) {
    const status = fields[at] ?? ''
    const path = fields[at + 1] ?? ''
    const renamed = status.startsWith('R')
    if (renamed) files.push({ from: path, to: fields[at + 2] ?? null })
    else files.push({ from: status === 'A' ? null : path, to: status === 'D' ? null : path })
    at += renamed ? 3 : 2
  }
  return files
}

/** Paths of large files that a partial clone does not have. */
function unreadablePaths(gitDirectory: string, commits: string[]): string[] {
  const objects = git(gitDirectory, ['rev-list', '--objects', '--missing=print', '--no-walk', ...commits])
  const missing = new Set(objects.split('\n').flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : [])))
  if (missing.size === 0) return []
  const trees = commits.flatMap((commit) => git(gitDirectory, ['ls-tree', '-r', '-z', commit]).split('\0'))
  return trees.flatMap((entry) => {
    const [about, path] = entry.split('\t')
    return path !== undefined && missing.has(about?.split(' ')[2] ?? '') ? [path] : []
  })
}

function git(gitDirectory: string, args: string[]): string {
  return run([`--git-dir=${gitDirectory}`, '-c', 'core.quotePath=false', ...args]).toString('utf8')
}

function run(args: string[], input = ''): Buffer {
  return execFileSync('git', args, { input, maxBuffer: LARGEST_OUTPUT, stdio: ['pipe', 'pipe', 'ignore'] })
}
