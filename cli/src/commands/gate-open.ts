import { type Context, defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import type { components, ShiplockClient } from '@shiplock/sdk'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { EXECUTION_OPTIONS, findExecution } from '../run/execution.ts'
import { expectField, findRun, newestAttempt, RUN_OPTIONS } from '../run/run.ts'

type OpenedGate = components['schemas']['OpenedGate']
type Gate = components['schemas']['DeploymentGate']

export const gateOpenCommand = defineCommand({
  name: 'gate open',
  summary: 'Open the gate of a deployment, and wait for its decision',
  details: [
    'Creates a deployment of the run to the environment and asks the gates that cover it for approval. If the gate is open already, it is returned. If its approval was used and the policies do not approve any more, or if it has ended without one, another gate takes its place. Prints the decision: pending, approved or rejected. Deploy only if it is approved.',
    'Without --wait, exits with 0 once the gate is open. With --wait, waits for the decision, at most 12 hours, and exits with 3 unless it is approved.',
  ],
  options: {
    environment: { type: 'text', value: 'E', about: 'the environment to deploy to' },
    job: { type: 'text', value: 'J', about: 'the job that deploys; it separates two gates of one environment' },
    gate: { type: 'text', value: 'ID', about: 'the id of a configured gate that must cover the environment' },
    'job-instance': EXECUTION_OPTIONS['job-instance'],
    wait: { type: 'flag', value: '', about: 'wait for the decision' },
    ...RUN_OPTIONS,
    ...SERVER_OPTIONS,
  },
  examples: [
    'shiplock gate open --environment production --wait && ./deploy.sh',
    'shiplock gate open --environment staging --job eu-west --json',
  ],
  async run({ options }, context) {
    const { environment, job, gate } = options
    if (environment === undefined) throw new UsageError('Give the environment with --environment')
    const client = connect(options, context)
    const run = await findRun(client, options, context, true)
    const attempt = await newestAttempt(client, run)
    const execution = await findExecution(options, client, context)
    const choice = { ...(attempt && { attempt }), ...(job && { job }), ...(gate && { gate_id: gate }) }
    const known = { ...expectField(run), ...(execution && { job_instance: execution }) }
    const body = { run_id: run.id, environment, ...choice, ...known }
    const { data } = await client.api.POST('/v1/ci/gates', { body })
    if (data.data.supersedes) context.output.say(describeSuperseding(data.data.supersedes))
    const decided = options.wait ? await waitFor(client, data.data, context) : data.data
    context.output.print({ json: decided, text: decided.decision })
    if (!options.wait && decided.decision === 'pending') context.output.say(waitingFor(decided))
    return options.wait && decided.decision !== 'approved' ? EXIT.notApproved : EXIT.ok
  },
})

/** Some CI systems end a job that prints nothing for ten minutes. */
const REMIND_EVERY_MS = 5 * 60_000

/** Says for what it waits whenever that changes, and from time to time. */
async function waitFor(client: ShiplockClient, opened: OpenedGate, { output, signal }: Context): Promise<Gate> {
  let line = ''
  const onState = (gate: Gate) => {
    if (gate.decision !== 'pending' || waitingFor(gate) === line) return
    line = waitingFor(gate)
    output.say(line)
  }
  const reminder = setInterval(() => output.say(line), REMIND_EVERY_MS)
  try {
    const decided = await client.waitForGate(opened, { onState, signal })
    output.say(describeDecision(decided))
    return decided
  } finally {
    clearInterval(reminder)
  }
}

function describeSuperseding(gate: string): string {
  return `The gate ${gate}, which was opened before for this deployment, does not count any more. This one takes its place.`
}

function waitingFor({ gate, environment, url, note }: Gate): string {
  const reason = note ? ` (${note})` : ''
  return `Waiting for the approval of the gate "${gate.name}" of ${environment}${reason}: ${url}`
}

function describeDecision({ decision, status, decided_by, note, environment }: Gate): string {
  const by = decided_by ? ` by ${decided_by}` : ''
  const because = note ? `: ${note}` : ''
  const outcome = status === 'decided' ? decision : `${decision} (${status})`
  return `The deployment to ${environment} is ${outcome}${by}${because}`
}
