import type { Context } from '@shiplock/command-line/command'
import { integerOption, type Options, type OptionValues, UsageError } from '@shiplock/command-line/options'
import type { components, ShiplockClient } from '@shiplock/sdk'
import type { Connected } from '../connection/client.ts'
import { EXECUTION_OPTIONS, findExecution } from './execution.ts'
import { readImageOption } from './images.ts'
import { expectField, findRun, newestAttempt, RUN_OPTIONS, type RunName } from './run.ts'

type OpenedGate = components['schemas']['OpenedGate']
type Gate = components['schemas']['DeploymentGate']

/** The options of the commands that open a gate. */
export const GATE_OPTIONS = {
  environment: { type: 'text', value: 'E', about: 'the environment to deploy to' },
  job: { type: 'text', value: 'J', about: 'the job that deploys; it separates two gates of one environment' },
  gate: { type: 'text', value: 'ID', about: 'the id of a configured gate that must cover the environment' },
  'job-instance': EXECUTION_OPTIONS['job-instance'],
  'timeout-minutes': {
    type: 'text',
    value: 'N',
    about: 'how long the gate waits for a decision: 5 to 720 (by default 720)',
  },
  image: {
    type: 'list',
    value: 'IMAGE@sha256:…',
    about: 'a container image that is deployed, by the digest that a report has named',
  },
  ...RUN_OPTIONS,
} as const satisfies Options

type GateOptions = OptionValues<typeof GATE_OPTIONS>

const TIMEOUT_MINUTES = [5, 720] as const

/** Opens the gate of a run's deployment, or returns the one that is open. */
export async function openGate(
  client: Connected,
  options: GateOptions,
  context: Context,
): Promise<{ opened: OpenedGate; run: RunName }> {
  const { environment, job, gate, 'timeout-minutes': timeout } = options
  if (environment === undefined) throw new UsageError('Give the environment with --environment')
  const timeout_minutes = timeout && integerOption('timeout-minutes', timeout, TIMEOUT_MINUTES)
  const subjects = await readImageOption(options.image)
  const run = await findRun(client, options, context, true)
  const attempt = await newestAttempt(client, run)
  const execution = await findExecution(options, client, context)
  const choice = { ...(attempt && { attempt }), ...(job && { job }), ...(gate && { gate_id: gate }) }
  const known = { ...expectField(run), ...(execution && { job_instance: execution }) }
  const body = {
    run_id: run.id,
    environment,
    ...choice,
    ...known,
    ...(timeout_minutes && { timeout_minutes }),
    ...(subjects.length > 0 && { subjects }),
  }
  const { data } = await client.api.POST('/v1/ci/gates', { body })
  if (data.data.supersedes) context.output.say(describeSuperseding(data.data.supersedes))
  return { opened: data.data, run: { ...run, attempt } }
}

function describeSuperseding(gate: string): string {
  return `The gate ${gate}, which was opened before for this deployment, does not count any more. This one takes its place.`
}

/** Some CI systems end a job that prints nothing for ten minutes. */
const REMIND_EVERY_MS = 5 * 60_000

/**
 * Waits for the decision of a gate, and says for what whenever that changes, and from time to time.
 */
export async function waitForDecision(
  client: ShiplockClient,
  opened: OpenedGate,
  { output, signal }: Pick<Context, 'output' | 'signal'>,
): Promise<Gate> {
  let line = ''
  const onState = (gate: Gate) => {
    if (gate.decision !== 'pending' || describeWaiting(gate) === line) return
    line = describeWaiting(gate)
    output.say(line)
  }
  const reminder = setInterval(() => output.say(line), REMIND_EVERY_MS)
  try {
    const waiting = client.waitForGate(opened, { onState, signal })
    output.say(`The id of the deployment is ${opened.deployment_id}`)
    const decided = await waiting
    output.say(describeDecision(decided))
    return decided
  } finally {
    clearInterval(reminder)
  }
}

export function describeWaiting({ gate, environment, url, note }: Gate): string {
  const reason = note ? ` (${note})` : ''
  return `Waiting for the approval of the gate "${gate.name}" of ${environment}${reason}: ${url}`
}

function describeDecision({ decision, status, decided_by, note, environment }: Gate): string {
  const by = decided_by ? ` by ${decided_by}` : ''
  const because = note ? `: ${note}` : ''
  const outcome = status === 'decided' ? decision : `${decision} (${status})`
  return `The deployment to ${environment} is ${outcome}${by}${because}`
}
