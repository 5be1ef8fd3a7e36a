import { defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'

export const approveCommand = answerCommand({
  verb: 'approve',
  done: 'approved',
  summary: 'Approve a deployment that waits for approval',
})

export const rejectCommand = answerCommand({
  verb: 'reject',
  done: 'rejected',
  summary: 'Reject a deployment that waits for approval',
})

type Answer = { verb: 'approve' | 'reject'; done: string; summary: string }

/** The API and the audit log require a reason of this length. */
const REASON_LENGTHS = [10, 500] as const
const COMMENT_LENGTH_MAX = 1000

function answerCommand({ verb, done, summary }: Answer) {
  return defineCommand({
    name: verb,
    summary,
    details: [
      `Answers the gates of Shiplock that cover the deployment. The reason is kept in the audit log. Reviewers that the code host requires must answer there.`,
    ],
    positionals: { value: 'ID', count: 'one' },
    options: {
      reason: { type: 'text', value: 'R', about: 'why, in 10 to 500 characters' },
      comment: { type: 'text', value: 'C', about: 'a comment in addition to the reason' },
      ...SERVER_OPTIONS,
    },
    examples: [
      `shiplock ${verb} dep_01J8 --reason "Release 1.2 was checked on staging."`,
      `shiplock deployments --status pending_approval`,
    ],
    async run({ options, positionals }, context) {
      const body = readAnswer(options)
      const client = connect(options, context)
      const request = { params: { path: { id: positionals[0] as string } }, body }
      const { data } = await namingScope('write:deployments', () =>
        client.api.POST(`/v1/deployments/{id}/${verb}`, request),
      )
      const text = `The deployment ${positionals[0]} was ${done}; its status is ${data.data.status}`
      context.output.print({ json: data.data, text })
      return EXIT.ok
    },
  })
}

function readAnswer({ reason, comment }: { reason: string | undefined; comment: string | undefined }) {
  if (reason === undefined) throw new UsageError('Give the reason with --reason')
  const [min, max] = REASON_LENGTHS
  if (reason.trim().length < min || reason.length > max) {
    throw new UsageError(`--reason must have ${min} to ${max} characters`)
  }
  if (comment !== undefined && comment.length > COMMENT_LENGTH_MAX) {
    throw new UsageError(`--comment must have at most ${COMMENT_LENGTH_MAX} characters`)
  }
  return { reason, ...(comment !== undefined && { comment }) }
}
