import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { createS3Client, type S3StoreOptions } from '../../src/platform/objects/s3-object-store.ts'
import { freePort } from './free-port.ts'
import { installS3Server } from './install-s3-server.ts'

/** A real S3 server on loopback with one empty bucket; it and its data are gone after close. */
type S3Server = { options: S3StoreOptions; close(): Promise<void> }

const POLL_MS = 50
const START_MS_MAX = 30_000

export async function startS3Server(): Promise<S3Server> {
  const program = await installS3Server()
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-s3-'))
  const options = await newOptions()
  const child = await spawnServer(program, directory, options)
  const close = async () => {
    await stop(child)
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await untilItListens(options, child)
    await createS3Client(options).send(new CreateBucketCommand({ Bucket: options.bucket }))
    return { options, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function newOptions() {
  const port = await freePort()
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'shiplock-test',
    region: 'us-east-1',
    accessKeyId: randomBytes(10).toString('hex'),
    secretAccessKey: randomBytes(20).toString('hex'),
    forcePathStyle: true,
  }
}

/**
 * What S3 knows about objects beside their bytes stands in files too, as not every file system has
 * extended attributes.
 */
async function spawnServer(program: string, directory: string, options: S3StoreOptions): Promise<ChildProcess> {
  const data = join(directory, 'data')
  const sidecar = join(directory, 'sidecar')
  for (const path of [data, sidecar]) await mkdir(path)
  const { host } = new URL(options.endpoint as string)
  return spawn(program, ['--quiet', '--port', host, '--region', options.region, 'posix', '--sidecar', sidecar, data], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ROOT_ACCESS_KEY_ID: options.accessKeyId, ROOT_SECRET_ACCESS_KEY: options.secretAccessKey },
  })
}

async function untilItListens({ endpoint }: S3StoreOptions, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_MS_MAX
  while (child.exitCode === null && performance.now() < deadline) {
    const answered = await fetch(endpoint as string).then(
      () => true,
      () => false,
    )
    if (answered) return
    await setTimeout(POLL_MS)
  }
  throw new Error('The S3 server did not start; what it said is above.')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
