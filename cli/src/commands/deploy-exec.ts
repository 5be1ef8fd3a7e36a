import { type Context, defineCommand, Interrupted } from '@shiplock/command-line/command'
import { watchSignals } from '@shiplock/command-line/signals'
import type { DeploymentUpdate, ShiplockClient } from '@shiplock/sdk'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { describeError } from '../program/describe-error.ts'
import { EXIT } from '../program/exit-codes.ts'
import { runChild, waitForServer } from '../program/run-child.ts'
import { GATE_OPTIONS, openGate, waitForDecision } from '../run/gate.ts'
import { runVariables } from '../run/run.ts'

export const deployExecCommand = defineCommand({
  name: 'deploy exec',
  summary: 'Run the command that deploys, once its gate is approved, and report how it ended',
  details: [
    'Opens the gate of the deployment as "gate open --wait" does, and exits with 3 without running the command unless the gate is approved. Then reports that the deployment is in progress, runs the command, and reports how it ended: success if it exits with 0, cancelled after Ctrl-C or SIGTERM, failure otherwise. Exits with the exit code of the command.',
    'Ctrl-C while the gate waits cancels the deployment. If the server cannot be told how the command ended, that is a warning, and the exit code is still that of the command.',
  ],
  positionals: { value: 'COMMAND', count: 'rest' },
  options: {
    ...GATE_OPTIONS,
    url: SERVER_OPTIONS.url,
    audience: SERVER_OPTIONS.audience,
    quiet: SERVER_OPTIONS.quiet,
  },
  examples: [
    'shiplock deploy exec --environment production -- ./deploy.sh',
    'shiplock deploy exec --environment staging --job eu-west --timeout-minutes 60 -- helm upgrade shop ./chart',
  ],
  async run({ options, positionals: [command = '', ...args] }, context) {
    const { env, output } = context
    const signals = watchSignals()
    const stop = new AbortController()
    // The first signal ends the waiting; what became of the deployment is still reported.
    const waiting = { ...context, signal: signals.first }
    const asking = connect(options, waiting)
    const telling = connect(options, { env, output, signal: stop.signal })
    const { opened, run } = await openGate(asking, options, waiting)
    const report = (status: Status) => reportStatus(telling, opened.deployment_id, status, output)
    try {
      const { decision } = await waitForDecision(asking, opened, waiting)
      if (decision !== 'approved') return EXIT.notApproved
    } catch (error) {
      signals.onSignal((signal) => stop.abort(new Interrupted(signal)))
      if (signals.first.aborted) await report('cancelled')
      throw error
    }
    const started = report('in_progress')
    await waitForServer(started, signals.first)
    const ended = await runChild({ command, args, env: { ...env, ...runVariables(run) }, signals })
    signals.onSignal((signal) => stop.abort(new Interrupted(signal)))
    await started
    await report(ended.isInterrupted ? 'cancelled' : ended.code === 0 ? 'success' : 'failure')
    return ended.code
  },
})

type Status = NonNullable<DeploymentUpdate['status']>

/** No failure to report reaches the command. */
async function reportStatus(
  client: ShiplockClient,
  id: string,
  status: Status,
  output: Context['output'],
): Promise<void> {
  try {
    await client.updateDeployment(id, { status })
    if (status !== 'in_progress') output.say(`The deployment has ended: ${status}.`)
  } catch (error) {
    output.warn(`shiplock: The deployment is not reported as ${status}: ${describeError(error)}`)
  }
}
