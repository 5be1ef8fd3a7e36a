import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ProcessMessage } from './serve-questions.ts'

/** Why an answer ended before its end. */
export type Interruption = 'timeout' | 'died'

/** The parts of an answer in their order, and what kept the rest away. */
export type BoundedAnswer<Part> = { parts: Part[]; interrupted: Interruption | null }

const MEMORY_MB_MAX = 256

/**
 * A process that answers one question after the other, each within its time: for code that cannot be interrupted where it runs. A
 * thread would not do, because one that runs out of memory may take the whole process with it. It starts with the first question
 * and stays; what takes too long, or too much memory, is ended with it.
 */
export class BoundedProcess<Question, Part> {
  readonly #module: URL
  #process: Promise<ChildProcess> | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** `module` calls `serveQuestions`. */
  constructor(module: URL) {
    this.#module = module
  }

  /** Time is counted from when the process begins with this question. */
  ask(question: Question, timeoutMs: number): Promise<BoundedAnswer<Part>> {
    const answer = this.#last.then(() => this.#ask(question, timeoutMs))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #ask(question: Question, timeoutMs: number): Promise<BoundedAnswer<Part>> {
    const starting = this.#process ?? startProcess(this.#module, () => this.#forget(starting))
    this.#process = starting
    const child = await starting
    hold(child)
    child.send(question as object, () => {})
    const answer = await collectParts<Part>(child, timeoutMs)
    if (answer.interrupted === null) release(child)
    else await end(child)
    return answer
  }

  /** Whatever ends a process, the next question starts another. */
  #forget(ended: Promise<ChildProcess>): void {
    if (this.#process === ended) this.#process = null
  }
}

/** A process that has loaded its module. It has nothing of our environment, which may hold secrets. */
function startProcess(module: URL, ended: () => void): Promise<ChildProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>()
  const child = fork(fileURLToPath(module), [], {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${MEMORY_MB_MAX}`],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  child.once('error', reject)
  child.once('exit', (code) => {
    ended()
    reject(new Error(`The process of ${module.pathname} ended with ${code}.`))
  })
  child.once('message', () => resolve(child))
  return promise
}

/** While it answers, it keeps our process alive; an idle one does not. */
function hold(child: ChildProcess): void {
  child.ref()
  child.channel?.ref()
}

function release(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGKILL')
  await promise
}

function collectParts<Part>(child: ChildProcess, timeoutMs: number): Promise<BoundedAnswer<Part>> {
  const { promise, resolve } = Promise.withResolvers<BoundedAnswer<Part>>()
  const parts: Part[] = []
  const finish = (interrupted: Interruption | null) => {
    clearTimeout(timer)
    child.off('message', take).off('exit', died)
    resolve({ parts, interrupted })
  }
  const take = (message: unknown) => {
    const said = message as ProcessMessage<Part>
    if (said.end) finish(null)
    else parts.push(said.part)
  }
  const died = () => finish('died')
  const timer = setTimeout(() => finish('timeout'), timeoutMs)
  child.on('message', take).once('exit', died)
  return promise
}
