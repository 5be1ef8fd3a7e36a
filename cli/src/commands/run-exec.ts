import { type Context, defineCommand, Interrupted } from '@shiplock/command-line/command'
import { watchSignals } from '@shiplock/command-line/signals'
import type { ShiplockClient } from '@shiplock/sdk'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { describeError } from '../program/describe-error.ts'
import { runChild, waitForServer } from '../program/run-child.ts'
import {
  createRun,
  describeRun,
  type FinalStatus,
  finishRun,
  nameOf,
  RUN_FIELD_OPTIONS,
  type RunName,
  runVariables,
} from '../run/run.ts'
import { TIMEOUT_OPTION, timeoutOf } from './run-start.ts'

export const runExecCommand = defineCommand({
  name: 'run exec',
  summary: 'Run a command and report it as a run',
  details: [
    'Reports a run, runs the command, and reports how it ended: success if it exits with 0, cancelled after Ctrl-C or SIGTERM, failure otherwise. Signals are passed on to the command. Exits with the exit code of the command, or with 128 + the number of the signal that ended it.',
    'The command gets the id of the run in SHIPLOCK_RUN, so that "shiplock report" inside of it belongs to the run. If the server cannot be reached, the command runs all the same.',
  ],
  positionals: { value: 'COMMAND', count: 'rest' },
  options: {
    ...RUN_FIELD_OPTIONS,
    ...TIMEOUT_OPTION,
    url: SERVER_OPTIONS.url,
    audience: SERVER_OPTIONS.audience,
    quiet: SERVER_OPTIONS.quiet,
  },
  examples: ['shiplock run exec -- make test', 'shiplock run exec --pipeline nightly -- ./nightly.sh --all'],
  async run({ options, positionals: [command = '', ...args] }, { env, cwd, output }) {
    const signals = watchSignals()
    const stop = new AbortController()
    const client = connect(options, { env, output, signal: stop.signal })
    const reported = new ReportedRun(client, output)
    const run = {
      ...describeRun(options, { env, cwd }, true),
      ...timeoutOf(options),
      started_at: new Date().toISOString(),
    }
    const started = reported.start(() => createRun(client, run, options, { env, cwd }))
    await waitForServer(started, signals.first)
    if (!reported.isSettled && !signals.first.aborted) {
      output.warn('shiplock: The server has not answered yet. The command starts now, and the run is reported later.')
    }
    const ended = await runChild({ command, args, env: { ...env, ...reported.environment }, signals })
    signals.onSignal((signal) => stop.abort(new Interrupted(signal)))
    if (ended.isInterrupted && !reported.isSettled) stop.abort(signals.first.reason)
    await started
    await reported.finish(ended.isInterrupted ? 'cancelled' : ended.code === 0 ? 'success' : 'failure')
    return ended.code
  },
})

/** The run as far as it could be reported. No failure to report it reaches the command. */
class ReportedRun {
  readonly #client: ShiplockClient
  readonly #output: Context['output']
  #run: RunName | null = null
  isSettled = false

  constructor(client: ShiplockClient, output: Context['output']) {
    this.#client = client
    this.#output = output
  }

  /** What the command finds in its environment. */
  get environment(): Record<string, string> {
    return this.#run === null ? {} : runVariables(this.#run)
  }

  async start(create: () => ReturnType<typeof createRun>): Promise<void> {
    try {
      const [created, about] = await create()
      this.#run = nameOf(created, about)
      this.#output.say(`Run of ${created.repository}, attempt ${created.attempt}: ${created.app_url}`)
    } catch (error) {
      this.#output.warn(`shiplock: The run is not reported: ${describeError(error)}`)
    }
    this.isSettled = true
  }

  /** A connected code host reports the end of its runs itself. */
  async finish(status: FinalStatus): Promise<void> {
    if (this.#run === null || this.#run.host !== null) return
    try {
      await finishRun(this.#client, this.#run, status)
      this.#output.say(`The run has ended: ${status}.`)
    } catch (error) {
      this.#output.warn(`shiplock: The end of the run is not reported: ${describeError(error)}`)
    }
  }
}
