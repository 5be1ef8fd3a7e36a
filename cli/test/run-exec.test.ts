import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ended, shiplock, startShiplock, temporaryDirectory } from './support/program.ts'
import { sendJson, startScriptedServer } from './support/scripted-server.ts'
import { startServer } from './support/server.ts'

const { api, caller, env } = await startServer()
const directory = temporaryDirectory()
let runs = 0

/** The options of a run of its own, and a look at what the server knows of it. */
function newRun() {
  const id = `exec-${++runs}`
  const options = ['--ci-system', 'test', '--external-run-id', id]
  const source = ['--repository', 'github.com/acme/shop', '--commit', 'a'.repeat(40)]
  return { args: ['run', 'exec', ...options, ...source], statusOf: () => statusOf(id) }
}

async function statusOf(externalId: string): Promise<string> {
  const body = {
    ci_system: 'test',
    external_run_id: externalId,
    repository: 'github.com/acme/shop',
    commit_sha: 'a'.repeat(40),
    pipeline_name: 'shop',
  }
  const { status, body: answer } = await api.request('POST', '/v1/ci/runs', { key: caller.key, body })
  assert.equal(status, 200, 'the run is not known')
  return answer.data.status
}

function script(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

test('exits as the command did, hands over its input and output, and reports success', async () => {
  const { args, statusOf } = newRun()
  const { code, stdout, stderr } = await shiplock([...args, '--', 'cat'], { env, input: 'through' })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, 'through')
  assert.match(stderr, /^Run of github.com\/acme\/shop, attempt 1: http.*\nThe run has ended: success.\n$/)
  assert.equal(await statusOf(), 'success')
})

test('the run ends although nobody reads what the program says', async () => {
  const { args, statusOf } = newRun()
  const child = startShiplock([...args, '--', 'sh', '-c', 'sleep 0.5; exit 3'], { env })
  child.stderr?.destroy()
  const [code] = await once(child, 'exit')
  assert.equal(code, 3)
  assert.equal(await statusOf(), 'failure')
})

test('a command that fails is a failure, with its exit code and its own options', async () => {
  const { args, statusOf } = newRun()
  const { code, stderr } = await shiplock([...args, '--', 'sh', '-c', 'exit 42', '--help'], { env })
  assert.equal(code, 42, stderr)
  assert.equal(await statusOf(), 'failure')
})

test('a command that a signal ended is 128 + the signal and a failure; one that does not exist is 127', async () => {
  const killed = newRun()
  assert.equal((await shiplock([...killed.args, '--', 'sh', '-c', 'kill -9 $$'], { env })).code, 137)
  assert.equal(await killed.statusOf(), 'failure')
  const missing = newRun()
  const { code, stderr } = await shiplock([...missing.args, '--', 'no-such-command'], { env })
  assert.equal(code, 127)
  assert.match(stderr, /shiplock: no-such-command cannot be run \(ENOENT\)/)
  assert.equal(await missing.statusOf(), 'failure')
})

test('the command gets the id of the run, so that other commands inside of it belong to the run', async () => {
  const { args, statusOf } = newRun()
  const { stdout, code } = await shiplock(
    [...args, '--quiet', '--', 'sh', '-c', 'echo $SHIPLOCK_RUN $SHIPLOCK_RUN_ATTEMPT'],
    { env },
  )
  assert.equal(code, 0)
  assert.match(stdout, /^run_\w+ 1\n$/)
  assert.equal(await statusOf(), 'success')
})

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} is passed on, and the run is cancelled`, async () => {
    const { args, statusOf } = newRun()
    const waiting = script(
      'wait.sh',
      `trap 'echo got it; trap - ${signal.slice(3)}; kill -${signal.slice(3)} $$' ${signal.slice(3)}\necho ready\nwhile :; do sleep 0.05; done`,
    )
    const child = startShiplock([...args, '--', 'sh', waiting], { env })
    const end = ended(child)
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill(signal)
    const { code: exitCode, stdout, stderr } = await end
    assert.equal(exitCode, code, stderr)
    assert.match(stdout, /got it/)
    assert.match(stderr, /The run has ended: cancelled/)
    assert.equal(await statusOf(), 'cancelled')
  })
}

test('a command that ends itself well after Ctrl-C keeps its exit code; the run is cancelled', async () => {
  const { args, statusOf } = newRun()
  const graceful = script('graceful.sh', "trap 'exit 0' INT\necho ready\nwhile :; do sleep 0.05; done")
  const child = startShiplock([...args, '--', 'sh', graceful], { env })
  const end = ended(child)
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  child.kill('SIGINT')
  assert.equal((await end).code, 0)
  assert.equal(await statusOf(), 'cancelled')
})

test('a server that refuses the run does not keep the command from running', async () => {
  const { args } = newRun()
  const { code, stdout, stderr } = await shiplock([...args, '--', 'sh', '-c', 'echo ran; exit 3'], {
    env: { ...env, SHIPLOCK_KEY: 'shl_live_wrong' },
  })
  assert.equal(code, 3)
  assert.equal(stdout, 'ran\n')
  assert.match(stderr, /^shiplock: The run is not reported: The server rejects the credential/)
})

test('a server that cannot be reached delays the command by a few seconds; it is reported once it can be', async () => {
  let isUp = false
  const server = await startScriptedServer(({ method }, response) => {
    if (!isUp) return void response.destroy()
    sendJson(response, 200, {
      data: { id: 'run_1', attempt: 1, provider: 'other', repository: 'r', app_url: 'u', status: method },
    })
  })
  const child = startShiplock([...newRun().args, '--', 'sh', '-c', 'echo "run=$SHIPLOCK_RUN"; exit 7'], {
    env: { ...env, SHIPLOCK_URL: server.url },
  })
  const end = ended(child)
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  isUp = true
  const { code, stderr } = await end
  assert.equal(code, 7)
  assert.match(
    stderr,
    /The server at http:\/\/127\.0\.0\.1:\d+ cannot be reached \(.*\)\. Retrying in 2 s \(try 2 of 6\)\n/,
  )
  assert.match(stderr, /shiplock: The server has not answered yet. The command starts now/)
  assert.match(stderr, /The run has ended: failure/)
  const [last] = server.received.slice(-1)
  assert.equal(last?.method, 'PATCH')
  assert.deepEqual(JSON.parse(last?.body ?? ''), { status: 'failure', attempt: 1 })
})

test('Ctrl-C before the server answers ends without running the command', async () => {
  const server = await startScriptedServer((_received, response) => void response.destroy())
  const child = startShiplock([...newRun().args, '--', 'echo', 'ran'], { env: { ...env, SHIPLOCK_URL: server.url } })
  const end = ended(child)
  await once(child.stderr as NodeJS.ReadableStream, 'data')
  child.kill('SIGINT')
  const started = performance.now()
  const { code, stdout } = await end
  assert.equal(code, 130)
  assert.equal(stdout, '')
  assert.ok(performance.now() - started < 5_000)
})

test('a run of a connected code host is not ended: the host does that', async () => {
  const server = await startScriptedServer((_received, response) =>
    sendJson(response, 200, {
      data: { id: 'gh_run_1', attempt: 2, provider: 'github', repository: 'r', app_url: 'u' },
    }),
  )
  const { code, stderr } = await shiplock([...newRun().args, '--', 'true'], {
    env: { ...env, SHIPLOCK_URL: server.url },
  })
  assert.equal(code, 0, stderr)
  assert.deepEqual(
    server.received.map(({ method }) => method),
    ['POST'],
  )
})
