import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { installGoProgram } from './install-go-program.ts'

export const REGO = new URL('../fixtures/policies/', import.meta.url).pathname
export const REGO_FILES = ['release.rego', 'broken.rego', 'data.json']

/** Path of OPA (docs/adr/0008-policy-engines.md). */
export function installOpa(): Promise<string> {
  return installGoProgram({ package: 'github.com/open-policy-agent/opa', version: 'v1.22.0', what: 'OPA' })
}

/** The program that `npm run test:opa` installed. */
export function requireOpa(): string {
  const program = process.env.SHIPLOCK_TEST_OPA
  if (!program) throw new Error('This test needs OPA: npm run test:opa')
  return program
}

/** A real OPA server on loopback, over the Rego of the fixtures. */
export type OpaServer = { url: string; close(): Promise<void> }

const POLL_MS = 50
const START_MS_MAX = 30_000

export async function startOpa(): Promise<OpaServer> {
  const port = await freePort()
  const args = ['run', '--server', '--addr', `127.0.0.1:${port}`, '--log-level', 'error', ...REGO_FILES]
  const child = spawn(requireOpa(), args, { cwd: REGO, stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  const close = () => stop(child)
  try {
    await untilItAnswers(url, child)
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function untilItAnswers(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_MS_MAX
  while (child.exitCode === null && performance.now() < deadline) {
    const answered = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (answered) return
    await setTimeout(POLL_MS)
  }
  throw new Error('OPA did not start; what it said is above.')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
