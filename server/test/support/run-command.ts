import assert from 'node:assert/strict'
import { runProgram } from './program.ts'

/** What a command that succeeds prints with `--json`. */
export async function printedBy(dataDir: string, args: string[]) {
  const { code, stderr, json } = await runProgram(dataDir, [...args, '--json'])
  assert.equal(code, 0, stderr)
  return json
}

/**
 * A refused command prints nothing on standard output, and one line with the reason on standard
 * error.
 */
export async function assertRefused(dataDir: string, code: number, line: RegExp, args: string[]): Promise<void> {
  const ended = await runProgram(dataDir, args)
  assert.equal(ended.code, code, ended.stderr)
  assert.equal(ended.stdout, '')
  assert.match(ended.stderr, line)
  assert.equal(ended.stderr.trim().split('\n').length, 1)
}
