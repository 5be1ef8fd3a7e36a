import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'

const BIN = new URL('../../bin/shiplock.mjs', import.meta.url).pathname

// biome-ignore lint/suspicious/noExplicitAny: tests look into what a command printed as they like
type Printed = any

export type Ended = { code: number | null; stdout: string; stderr: string; json: Printed }

export type Call = {
  env?: Record<string, string>
  input?: string
  cwd?: string
  /** The program, instead of the one of this clone. */
  bin?: string
  /** The Node that runs it, instead of this one. */
  node?: string
}

/** A directory that is removed after the tests of this file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-cli-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A home directory without a configuration, and no git repository. */
export const HOME = temporaryDirectory()

/**
 * Runs the program to its end. Of the caller's own environment, only PATH and the cache of compiled
 * modules reach it.
 */
export async function shiplock(args: string[], call: Call = {}): Promise<Ended> {
  const child = startShiplock(args, call)
  child.stdin?.end(call.input ?? '')
  return ended(child, args)
}

/** Starts the program, for tests that send it signals. */
export function startShiplock(
  args: string[],
  { env = {}, cwd = HOME, bin = BIN, node = process.execPath }: Call = {},
): ChildProcess {
  return spawn(node, [bin, ...args], { cwd, env: environment(env), stdio: 'pipe' })
}

export function environment(env: Record<string, string>): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  const cache = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  return { PATH, HOME, GIT_CEILING_DIRECTORIES: tmpdir(), ...cache, ...env }
}

/** What the program printed until its end. */
export async function ended(child: ChildProcess, args: string[] = []): Promise<Ended> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'exit'),
  ])
  return { code, stdout, stderr, json: args.includes('--json') && stdout ? JSON.parse(stdout) : undefined }
}
