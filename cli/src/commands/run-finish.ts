import { defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { type FinalStatus, findRun, finishRun, RUN_OPTIONS } from '../run/run.ts'

const STATUSES = ['success', 'failure', 'cancelled', 'timed_out', 'skipped'] as const satisfies readonly FinalStatus[]

export const runFinishCommand = defineCommand({
  name: 'run finish',
  summary: 'Report that a run has ended',
  details: [
    'Reports the final status of the run. Reporting the same status again changes nothing; another status is refused. A run of a connected code host gets its status from the code host.',
  ],
  options: {
    status: { type: 'text', value: 'STATUS', about: 'the final status', choices: STATUSES },
    ...RUN_OPTIONS,
    ...SERVER_OPTIONS,
  },
  examples: ['shiplock run finish --status success', 'shiplock run finish --status failure --run "$SHIPLOCK_RUN"'],
  async run({ options }, context) {
    if (options.status === undefined)
      throw new UsageError(`Give the final status with --status: ${STATUSES.join(', ')}`)
    const client = connect(options, context)
    const run = await findRun(client, options, context)
    if (run.host !== null) {
      context.output.say(`${run.host} reports the status of this run itself.`)
      return EXIT.ok
    }
    const finished = await finishRun(client, run, options.status as FinalStatus)
    context.output.print({ json: finished, text: `${finished.id} ${finished.status}` })
    return EXIT.ok
  },
})
