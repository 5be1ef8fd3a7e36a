import { defineCommand } from '@shiplock/command-line/command'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { describeWaiting, GATE_OPTIONS, openGate, waitForDecision } from '../run/gate.ts'

export const gateOpenCommand = defineCommand({
  name: 'gate open',
  summary: 'Open the gate of a deployment, and wait for its decision',
  details: [
    'Creates a deployment of the run to the environment and asks the gates that cover it for approval. If the gate is open already, it is returned. If its approval was used and the policies do not approve any more, or if it has ended without one, another gate takes its place. Prints the decision: pending, approved or rejected. Deploy only if it is approved.',
    'Without --wait, exits with 0 once the gate is open. With --wait, waits for the decision, at most 12 hours or --timeout-minutes, and exits with 3 unless it is approved.',
  ],
  options: {
    ...GATE_OPTIONS,
    wait: { type: 'flag', value: '', about: 'wait for the decision' },
    ...SERVER_OPTIONS,
  },
  examples: [
    'shiplock gate open --environment production --wait && ./deploy.sh',
    'shiplock gate open --environment staging --job eu-west --json',
  ],
  async run({ options }, context) {
    const client = connect(options, context)
    const { opened } = await openGate(client, options, context)
    const decided = options.wait ? await waitForDecision(client, opened, context) : opened
    context.output.print({ json: decided, text: decided.decision })
    if (!options.wait && decided.decision === 'pending') context.output.say(describeWaiting(decided))
    return options.wait && decided.decision !== 'approved' ? EXIT.notApproved : EXIT.ok
  },
})
