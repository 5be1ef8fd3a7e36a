import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Why an answer is incomplete. */
type Interruption = 'timeout' | 'died'

/** The parts of an answer in order, and why the rest is missing. */
type BoundedAnswer<Part> = { parts: Part[]; interrupted: Interruption | null }

const MEMORY_MB_MAX = 256

/**
 * Runs code that cannot be interrupted in a child process, one question after the other, each with
 * a time limit. A thread would not do, because running out of memory in a thread can end the whole
 * process. The child starts with the first question and is reused. It is killed when a question
 * takes too long or too much memory.
 */
export class BoundedProcess<Question, Part> {
  readonly #module: URL
  #process: Promise<ChildProcess> | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** `module` calls `serveQuestions`. */
  constructor(module: URL) {
    this.#module = module
  }

  /**
   * The time limit starts when the process starts with this question. `note` is told the processor
   * time of the answer; where it is not known, the time that it took.
   */
  ask(question: Question, timeoutMs: number, note: (usedMs: number) => void = () => {}): Promise<BoundedAnswer<Part>> {
    const answer = this.#last.then(() => this.#ask(question, timeoutMs, note))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #ask(question: Question, timeoutMs: number, note: (usedMs: number) => void): Promise<BoundedAnswer<Part>> {
    const starting = this.#process ?? startProcess(this.#module, () => this.#forget(starting))
    this.#process = starting
    const child = await starting
    // The child keeps our process alive while it answers, but not while it is idle.
    child.ref()
    child.channel?.ref()
    child.send(question as object, () => {})
    const answer = await collectParts<Part>(child, timeoutMs, note)
    if (answer.interrupted === null) {
      child.unref()
      child.channel?.unref()
    } else await end(child)
    return answer
  }

  /** When a process ends, for any reason, the next question starts another. */
  #forget(ended: Promise<ChildProcess>): void {
    if (this.#process === ended) this.#process = null
  }
}

/**
 * Starts a process and waits until its module is loaded. It gets no environment variables, which
 * may contain secrets.
 */
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

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGKILL')
  await promise
}

function collectParts<Part>(
  child: ChildProcess,
  timeoutMs: number,
  note: (usedMs: number) => void,
): Promise<BoundedAnswer<Part>> {
  const { promise, resolve } = Promise.withResolvers<BoundedAnswer<Part>>()
  const startedAt = performance.now()
  const parts: Part[] = []
  const finish = (interrupted: Interruption | null, usedMs = performance.now() - startedAt) => {
    clearTimeout(timer)
    child.off('message', take).off('exit', died)
    note(usedMs)
    resolve({ parts, interrupted })
  }
  const take = (message: unknown) => {
    const received = message as ProcessMessage<Part>
    if (received.end) finish(null, received.used_ms)
    else parts.push(received.part)
  }
  const died = () => finish('died')
  const timer = setTimeout(() => finish('timeout'), timeoutMs)
  child.on('message', take).once('exit', died)
  return promise
}

/**
 * A message to a `BoundedProcess`: a part of an answer, or its end, with the processor time that it
 * took. The first message means "ready".
 */
type ProcessMessage<Part> = { end: false; part: Part } | { end: true; used_ms: number }

/**
 * Answers the questions of a `BoundedProcess`, part by part. An error ends the process, and so does
 * the end of the parent. Signals that reach both are ignored, because the parent finishes its work
 * first.
 */
export function serveQuestions<Question, Part>(answer: (question: Question) => AsyncIterable<Part>): void {
  const say = (message: ProcessMessage<Part>) => process.send?.(message)
  process.on('message', async (question: Question) => {
    const before = process.cpuUsage()
    for await (const part of answer(question)) say({ end: false, part })
    const { user, system } = process.cpuUsage(before)
    say({ end: true, used_ms: (user + system) / 1000 })
  })
  process.on('disconnect', () => process.exit())
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  say({ end: true, used_ms: 0 })
}

/** Whether a process with this id exists, of any user; 0 means an unknown id. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
