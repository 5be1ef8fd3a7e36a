import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
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
export async function installGoProgram(program: GoProgram): Promise<string> {
  const name = basename(program.package)
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'shiplock-test')
  const path = join(cache, `${name}-${program.version}`)
  if (await exists(path)) return path
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'build-'))
  try {
    await build(program, directory)
    await rename(join(directory, name), path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return path
}

async function build({ package: path, version, what }: GoProgram, directory: string): Promise<void> {
  const source = `${path}@${version}`
  const startedAt = performance.now()
  const go = spawn('go', ['install', source], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, GOBIN: directory },
  })
  go.on('spawn', () => console.error(`Building ${what} ${source} (once, a few minutes) …`))
  let output = ''
  go.stderr.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(go, 'close').catch((error) => {
    if (error.code === 'ENOENT')
      throw new Error(`The tests with ${what} need Go (https://go.dev), which is not installed.`)
    throw error
  })
  if (code !== 0) throw new Error(`${output}${what} ${source} could not be built; Go's own words are above.`)
  console.error(`Built in ${Math.round((performance.now() - startedAt) / 1000)} s.`)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
