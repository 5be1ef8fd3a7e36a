import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readRunbookPage } from './runbook-page.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const PROGRAMS = { 'shiplock-server': 'server/src/main.ts', shiplock: 'cli/src/main.ts' }

/** What differs between the machine of a page's reader and the test's. */
export type RunbookPlace = {
  /** Where the commands start. */
  cwd: string
  /** Settings and variables that the page refers to. Others of the caller do not reach it. */
  env?: Record<string, string>
  /** Paths and addresses of the page, and what stands for them in the test. */
  replace?: Record<string, string>
}

/** What all blocks of the section printed. */
export type RunbookOutput = { stdout: string; stderr: string }

/**
 * Runs the commands of one section of a page below `docs/`, as an operator types them: all blocks
 * in one shell, which ends at the first command that fails. Fails with the output if one does.
 * `npx shiplock-server` and `npx shiplock` run the programs of this tree.
 */
export async function runSection(page: string, heading: string, place: RunbookPlace): Promise<RunbookOutput> {
  const section = readRunbookPage(page).find((candidate) => candidate.heading === heading)
  assert.ok(section, `docs/${page} has no section "${heading}" with sh blocks`)
  const script = replaceAll(section.commands.join('\n'), place.replace ?? {})
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: place.cwd,
    env: { HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...place.env, PATH: `${programs()}:${PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.equal(code, 0, `docs/${page}, "${heading}":\n${script}\n${stdout}${stderr}`)
  return { stdout, stderr }
}

/** Longer words first, so that a path replaces before its beginning does. */
function replaceAll(script: string, words: Record<string, string>): string {
  return Object.entries(words)
    .sort(([a], [b]) => b.length - a.length)
    .reduce((result, [from, to]) => result.replaceAll(from, to), script)
}

let directory: string | undefined

/** A directory for `PATH`: the programs of this tree, and an `npx` that runs them without npm. */
function programs(): string {
  if (directory) return directory
  const made = mkdtempSync(join(tmpdir(), 'shiplock-runbook-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  directory = made
  for (const [name, main] of Object.entries(PROGRAMS))
    writeProgram(name, `exec '${process.execPath}' '${join(ROOT, main)}' "$@"`)
  writeProgram('npx', `exec "$@"`)
  return directory
}

function writeProgram(name: string, line: string): void {
  const path = join(directory ?? '', name)
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
}
