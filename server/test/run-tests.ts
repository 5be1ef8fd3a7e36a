// Runs the tests on a PostgreSQL server of their own: `npm test`, `npm test -- <part of a file's path> …`.
// Arguments that begin with a dash go to `node --test` as they are (--test-name-pattern=…, --test-only).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { startTestServer } from './support/database.ts'

const CONCURRENCY = Math.min(4, Math.max(2, availableParallelism()))

const root = new URL('../..', import.meta.url).pathname
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'))
const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
process.exitCode = await runTests()

async function runTests(): Promise<number> {
  const files = testFiles()
  if (files.length === 0) {
    console.error(`no test file has ${parts.join(' or ')} in its path`)
    return 1
  }
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort())
  const server = await startTestServer()
  try {
    return await runNodeTest(files, server.url, stopped.signal)
  } finally {
    await server.close()
  }
}

function testFiles(): string[] {
  const all = globSync('server/{src,test}/**/*.test.ts', { cwd: root }).sort()
  return parts.length === 0 ? all : all.filter((file) => parts.some((part) => file.includes(part)))
}

async function runNodeTest(files: string[], url: string, stopped: AbortSignal): Promise<number> {
  if (stopped.aborted) return 130
  const args = ['--test', `--test-concurrency=${CONCURRENCY}`, ...flags, ...files]
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, SHIPLOCK_TEST_DATABASE_URL: url },
  })
  stopped.addEventListener('abort', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return stopped.aborted ? 130 : (code ?? 1)
}
