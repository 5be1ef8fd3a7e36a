import { type Running, runAsProcess, startProgram } from '../support/program.ts'

/** Programs of ours with the same data directory and settings. They end together. */
export class Programs implements AsyncDisposable {
  readonly directory: string
  readonly #env: Record<string, string>
  /** Also those that are not ready yet: they must not be left behind. */
  readonly #started: Promise<Running>[] = []

  constructor(directory: string, env: Record<string, string>) {
    this.directory = directory
    this.#env = { SHIPLOCK_CONSOLE: 'off', SHIPLOCK_LOG_LEVEL: 'fatal', ...env }
  }

  run(...args: string[]): ReturnType<typeof runAsProcess> {
    return runAsProcess(this.directory, args, this.#env)
  }

  start(command: 'server' | 'worker', env: Record<string, string> = {}): Promise<Running> {
    const started = startProgram(this.directory, command, { ...this.#env, ...env })
    this.#started.push(started)
    return started
  }

  /** Kills what still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const start of await Promise.allSettled(this.#started)) {
      if (start.status === 'rejected') continue
      const { child, stop } = start.value
      if (child.exitCode === null && child.signalCode === null) await stop('SIGKILL')
    }
  }
}
