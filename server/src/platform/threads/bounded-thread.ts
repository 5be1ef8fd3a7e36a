import { Worker } from 'node:worker_threads'
import type { ThreadMessage } from './serve-questions.ts'

/** Why an answer ended before its end. */
export type Interruption = 'timeout' | 'died'

/** The parts of an answer in their order, and what kept the rest away. */
export type BoundedAnswer<Part> = { parts: Part[]; interrupted: Interruption | null }

const MEMORY_MB_MAX = 256

/**
 * A thread that answers one question after the other, each within its time: for code that cannot be interrupted where it
 * runs. It starts with the first question and stays; one that takes too long, or too much memory, is ended with its thread.
 */
export class BoundedThread<Question, Part> {
  readonly #module: URL
  #thread: Promise<Worker> | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** `module` calls `serveQuestions`. */
  constructor(module: URL) {
    this.#module = module
  }

  /** Time is counted from when the thread begins with this question. */
  ask(question: Question, timeoutMs: number): Promise<BoundedAnswer<Part>> {
    const answer = this.#last.then(() => this.#ask(question, timeoutMs))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #ask(question: Question, timeoutMs: number): Promise<BoundedAnswer<Part>> {
    const starting = this.#thread ?? startThread(this.#module, () => this.#forget(starting))
    this.#thread = starting
    const thread = await starting
    thread.ref()
    thread.postMessage(question)
    const answer = await collectParts<Part>(thread, timeoutMs)
    if (answer.interrupted === null) thread.unref()
    else await thread.terminate()
    return answer
  }

  /** Whatever ends a thread, the next question starts another. */
  #forget(thread: Promise<Worker>): void {
    if (this.#thread === thread) this.#thread = null
  }
}

/** A thread that has loaded its module. An idle one keeps no process alive. */
function startThread(module: URL, ended: () => void): Promise<Worker> {
  const { promise, resolve, reject } = Promise.withResolvers<Worker>()
  const thread = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX } })
  thread.once('error', reject)
  thread.once('exit', (code) => {
    ended()
    reject(new Error(`The thread of ${module.pathname} ended with ${code}.`))
  })
  thread.once('message', () => resolve(thread))
  return promise
}

function collectParts<Part>(thread: Worker, timeoutMs: number): Promise<BoundedAnswer<Part>> {
  const { promise, resolve } = Promise.withResolvers<BoundedAnswer<Part>>()
  const parts: Part[] = []
  const end = (interrupted: Interruption | null) => {
    clearTimeout(timer)
    thread.off('message', take).off('exit', died)
    resolve({ parts, interrupted })
  }
  const take = (message: ThreadMessage<Part>) => (message.end ? end(null) : parts.push(message.part))
  const died = () => end('died')
  const timer = setTimeout(() => end('timeout'), timeoutMs)
  thread.on('message', take).once('exit', died)
  return promise
}
