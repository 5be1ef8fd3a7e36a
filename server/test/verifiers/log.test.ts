import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { issuerUnderTest } from '../support/verifiers/issuer.ts'
import { verifierPaths } from '../support/verifiers/verifiers.ts'

const { url, logKey } = issuerUnderTest()
const { fsck } = verifierPaths()

const directory = mkdtempSync(join(tmpdir(), 'shiplock-log-'))
after(() => rmSync(directory, { recursive: true }))
const KEY = join(directory, 'log.key')
writeFileSync(KEY, logKey.trim())

/**
 * Runs the log checker of another project (Tessera's fsck), which reads the whole log. Returns what
 * it printed. It exits with 0 in any case.
 */
async function check(storageUrl: string): Promise<string> {
  const args = ['-storage_url', `${storageUrl}/log/`, '-public_key', KEY, '-ui=false']
  const child = spawn(fsck, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return stdout + stderr
}

test('fsck accepts the log as it is served', async () => {
  assert.match(await check(url), /Successfully fsck'd log/)
})

const TAMPERINGS: [what: string, path: RegExp, change: (bytes: Buffer) => Buffer][] = [
  ['other entries', /\/tile\/entries\//, flipLastByte],
  ['another hash in a tile', /\/tile\/0\//, flipLastByte],
  ['fewer entries', /\/tile\/entries\//, (bytes) => bytes.subarray(0, bytes.length / 2)],
  [
    'another size in the checkpoint',
    /\/checkpoint$/,
    (bytes) => Buffer.from(bytes.toString().replace(/\n\d+\n/, '\n1\n')),
  ],
  ['another signature of the checkpoint', /\/checkpoint$/, (bytes) => flipByte(bytes, bytes.length - 20)],
]

for (const [what, path, change] of TAMPERINGS) {
  test(`fsck refuses a log with ${what}`, async () => {
    const served = await serveChanged(path, change)
    try {
      const output = await check(served.url)
      assert.match(output, /fsck failed: /)
      assert.doesNotMatch(output, /Successfully/)
      assert.ok(served.changed(), 'fsck has read what was changed')
    } finally {
      served.close()
    }
  })
}

/** Serves the log of the issuer, with other bytes at one path. */
async function serveChanged(path: RegExp, change: (bytes: Buffer) => Buffer) {
  let changed = false
  const server = createServer(async (request, response) => {
    const answer = await fetch(`${url}${request.url}`)
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isChanged = answer.ok && path.test(request.url ?? '')
    changed ||= isChanged
    response.writeHead(answer.status).end(isChanged ? change(bytes) : bytes)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, changed: () => changed, close: () => server.close() }
}

function flipLastByte(bytes: Buffer): Buffer {
  return flipByte(bytes, bytes.length - 1)
}

function flipByte(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  return bytes
}
