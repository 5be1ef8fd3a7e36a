import { defineCommand } from '@shiplock/command-line/command'
import type { Options } from '@shiplock/command-line/options'
import { integerOption } from '@shiplock/command-line/options'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { createRun, describeRun, RUN_FIELD_OPTIONS } from '../run/run.ts'

const TIMEOUT_MINUTES = [5, 4320] as const

/** The option of the commands that start a run. */
export const TIMEOUT_OPTION = {
  'timeout-minutes': {
    type: 'text',
    value: 'N',
    about: 'after this time, a run that has not finished becomes timed_out: 5 to 4320 (by default 360)',
  },
} as const satisfies Options

export const runStartCommand = defineCommand({
  name: 'run start',
  summary: 'Report that a run has started',
  details: [
    'Creates a run, or returns it if it is known already, and prints its id. In a CI, the run id, attempt, commit, branch, actor and URL are those of the CI job; elsewhere, the commit, branch and repository are those of the git repository in this directory.',
    'Every other command of the same CI job belongs to the same run. Outside of a CI, give them the id with --run or SHIPLOCK_RUN.',
  ],
  options: {
    ...RUN_FIELD_OPTIONS,
    queued: { type: 'flag', value: '', about: 'the run waits; another "run start" starts it' },
    ...TIMEOUT_OPTION,
    ...SERVER_OPTIONS,
  },
  examples: [
    'shiplock run start',
    'export SHIPLOCK_RUN=$(shiplock run start --pipeline nightly)',
    'shiplock run start --ci-system concourse --external-run-id "$BUILD_ID" --event push',
  ],
  async run({ options }, context) {
    const run = { ...describeRun(options, context, true), ...statusOf(options), ...timeoutOf(options) }
    const [created] = await createRun(connect(options, context), run, options, context)
    context.output.say(`Run of ${created.repository}, attempt ${created.attempt}: ${created.app_url}`)
    context.output.print({ json: created, text: created.id })
    return EXIT.ok
  },
})

function statusOf({ queued }: { queued: boolean }): { status?: 'queued' } {
  return queued ? { status: 'queued' } : {}
}

export function timeoutOf(options: { 'timeout-minutes': string | undefined }): { timeout_minutes?: number } {
  const text = options['timeout-minutes']
  return text === undefined ? {} : { timeout_minutes: integerOption('timeout-minutes', text, TIMEOUT_MINUTES) }
}
