import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'

/** A program that tests run against, and that Go builds from its source. */
type GoProgram = {
  /** Its import path; the last part is the program's name. */
  package: string
  version: string
  /** What it is, in a sentence: `the S3 server`. */
  what: string
}

/** Path of the program, built once for all clones of this user. */
export function installGoProgram({ package: path, version, what }: GoProgram): Promise<string> {
  const name = basename(path)
  const source = `${path}@${version}`
  return installOnce(`${name}-${version}`, async (directory) => {
    await runGo(['install', source], `${what} ${source}`, { GOBIN: directory })
    return join(directory, name)
  })
}

/**
 * Path of a program of this repository: `directory` is its module, with main.go, go.mod and go.sum.
 */
export async function buildGoProgram(directory: string, what: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(await readFile(join(directory, file)))
  const name = basename(directory)
  return installOnce(`${name}-${hash.digest('hex').slice(0, 16)}`, async (target) => {
    await runGo(['-C', directory, 'build', '-o', join(target, name), '.'], what, {})
    return join(target, name)
  })
}

/**
 * Path of a program in the user's cache. `install` gets a temporary directory, and returns the path
 * of the program or directory there.
 */
export async function installOnce(name: string, install: (directory: string) => Promise<string>): Promise<string> {
  const cache = testCache()
  const path = join(cache, name)
  if (await exists(path)) return path
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'build-'))
  try {
    await rename(await install(directory), path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return path
}

/** The directory of programs that tests install, which all clones of this user share. */
export function testCache(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'shiplock-test')
}

async function runGo(args: string[], what: string, env: Record<string, string>): Promise<void> {
  const startedAt = performance.now()
  const go = spawn('go', args, { stdio: ['ignore', 'inherit', 'pipe'], env: { ...process.env, ...env } })
  go.on('spawn', () => console.error(`Building ${what} (once, up to a few minutes) …`))
  let output = ''
  go.stderr.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(go, 'close').catch((error) => {
    if (error.code === 'ENOENT')
      throw new Error(`The tests with ${what} need Go (https://go.dev), which is not installed.`)
    throw error
  })
  if (code !== 0) throw new Error(`${output}${what} could not be built; the output of Go is above.`)
  console.error(`Built in ${Math.round((performance.now() - startedAt) / 1000)} s.`)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
