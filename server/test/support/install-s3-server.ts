import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

const VERSION = 'v1.8.0'
const PROGRAM = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`

/** Path of the S3 server that the tests run against, built once for all clones of this user (docs/adr/0006-s3.md). */
export async function installS3Server(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'shiplock-test')
  const path = join(cache, `versitygw-${VERSION}`)
  if (await exists(path)) return path
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'build-'))
  try {
    await build(directory)
    await rename(join(directory, 'versitygw'), path)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  return path
}

async function build(directory: string): Promise<void> {
  const startedAt = performance.now()
  const go = spawn('go', ['install', PROGRAM], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, GOBIN: directory },
  })
  go.on('spawn', () => console.error(`Building the S3 server ${PROGRAM} (once, a few minutes) …`))
  let output = ''
  go.stderr.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(go, 'close').catch((error) => {
    if (error.code === 'ENOENT') throw new Error('The tests on S3 need Go (https://go.dev), which is not installed.')
    throw error
  })
  if (code !== 0) throw new Error(`${output}The S3 server ${PROGRAM} could not be built; Go's own words are above.`)
  console.error(`Built in ${Math.round((performance.now() - startedAt) / 1000)} s.`)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
