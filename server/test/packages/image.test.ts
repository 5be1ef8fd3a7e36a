import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { Containers, type Image, statusOf, stopContainer } from '../support/container.ts'
import { freePort } from '../support/free-port.ts'
import { packWorkspace } from '../support/installed-packages.ts'
import { ImageStore, imagesCannotBeBuilt, makeNodeImage } from '../support/node-image.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'

const DOCKERFILE = new URL('../../../deploy/Dockerfile', import.meta.url).pathname
const START_MS_MAX = 120_000
const skip = imagesCannotBeBuilt()

const directory = mkdtempSync(join(tmpdir(), 'shiplock-image-'))
let images: ImageStore
let image: Image
let database: PostgresServer

before(async () => {
  if (skip) return
  images = new ImageStore()
  database = await PostgresServer.create(directory)
  image = await buildImage()
})
after(async () => {
  await database?.close()
  images?.remove()
  rmSync(directory, { recursive: true, force: true })
})

/** Builds the image as docs/operations/install.md says, with buildah. */
async function buildImage(): Promise<Image> {
  const base = /^ARG NODE_IMAGE=(.+)$/m.exec(readFileSync(DOCKERFILE, 'utf8'))?.[1] ?? ''
  const standIn = `localhost/${base}`
  await makeNodeImage(images, standIn)
  const context = join(directory, 'context')
  mkdirSync(context)
  cpSync(packWorkspace('server', join(directory, 'packed')), join(context, 'shiplock-server-0.0.0.tgz'))
  const values = ['VERSION=0.0.0', `NODE_IMAGE=${standIn}`].flatMap((value) => ['--build-arg', value])
  const how = ['--isolation', 'chroot', '--format', 'docker', '--quiet']
  images.buildah('build', ...how, '--file', DOCKERFILE, ...values, '--tag', 'shiplock', context)
  const { Docker } = JSON.parse(images.buildah('inspect', '--type', 'image', 'shiplock'))
  return { root: images.mount('shiplock'), config: Docker.config }
}

async function containers(volume: string, settings: Record<string, string> = {}): Promise<Containers> {
  const port = await freePort()
  const own = { SHIPLOCK_HOST: '127.0.0.1', SHIPLOCK_PORT: String(port), SHIPLOCK_SECRET_KEY: 'k'.repeat(32) }
  return new Containers(image, join(directory, volume), { ...own, ...settings })
}

test('the image runs on a read-only root as another user, and SIGTERM stops it', { skip }, async () => {
  const engine = await containers('volume', { DATABASE_URL: database.url, SHIPLOCK_METRICS_PORT: '' })
  const migrated = await engine.exec(['shiplock-server', 'migrate'])
  assert.equal(migrated.code, 0, migrated.output)
  const server = engine.start()
  const errors = text(server.stderr)
  try {
    const [, ...check] = image.config.Healthcheck?.Test ?? []
    await until('the health check passes', START_MS_MAX, async () => (await engine.exec(check)).code === 0)
    assert.match(statusOf(server), /^Uid:\t10001\t10001\t10001\t10001$/m)
    assert.match(statusOf(server), /^CapBnd:\t0+$/m)
    await useServer(engine)
    assert.equal(await stopContainer(server, image.config.StopSignal as NodeJS.Signals), 0, await errors)
  } finally {
    server.kill('SIGKILL')
  }
  assert.match(await errors, /^Stopping: /m)
})

/** The commands that docs/operations/install.md runs in a container. */
async function useServer(engine: Containers): Promise<void> {
  const commands: [string, RegExp][] = [
    ['org create acme', /acme/],
    ['user invite ada@example.com --org acme --role org_admin', /\/join#token=/],
    ['doctor', /^ok +objects/m],
    ['backup /var/lib/shiplock/backup', /rows/],
    ['backup verify /var/lib/shiplock/backup', /is complete/],
  ]
  for (const [command, answer] of commands) {
    const { code, output } = await engine.exec(['shiplock-server', ...command.split(' ')])
    assert.equal(code, 0, `${command}: ${output}`)
    assert.match(output, answer)
  }
}

test('the worker of the image runs, and its health check is that of the compose file', { skip }, async () => {
  const port = String(await freePort())
  const engine = await containers('worker', { DATABASE_URL: database.url, SHIPLOCK_METRICS_PORT: port })
  const worker = engine.start(['worker'])
  const errors = text(worker.stderr)
  try {
    const check = ['shiplock-server', 'health', `--port=${port}`]
    await until('the health check passes', START_MS_MAX, async () => (await engine.exec(check)).code === 0)
    assert.equal(await stopContainer(worker, 'SIGTERM'), 0, await errors)
  } finally {
    worker.kill('SIGKILL')
  }
})

test('a file outside of the volume is refused in one line, and nothing was written', { skip }, async () => {
  const engine = await containers('refused', { DATABASE_URL: database.url })
  const { code, output } = await engine.exec(['shiplock-server', 'backup', '/opt/backup'])
  assert.deepEqual([code, output.trim().split('\n').at(-1)?.slice(0, 30)], [1, 'EROFS: read-only file system, '])
  assert.doesNotMatch(output, /^ {4}at /m)
  const options = ['-xdev', '-newer', DOCKERFILE, '-user', '10001', '-not', '-path', '*/var/lib/shiplock']
  assert.equal(execFileSync('find', [image.root, ...options], { encoding: 'utf8' }), '')
})

test('without DATABASE_URL, the image says what is missing', { skip }, async () => {
  const engine = await containers('alone')
  const { code, output } = await engine.exec(['shiplock-server', 'server'])
  assert.equal(code, 1)
  assert.match(output, /PostgreSQL is not installed with this program.+set DATABASE_URL/)
})
