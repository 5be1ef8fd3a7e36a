import { defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { listCommand, shortTime } from './list-command.ts'
import { REPOSITORY_FILTERS } from './security-lists.ts'

const SCOPE = 'write:triage'
const STREAM_ID = /^[1-9][0-9]{0,14}$/

export const streamListCommand = listCommand({
  name: 'stream list',
  noun: 'streams',
  summary: 'List the streams of security reports',
  details: [
    'A stream has the findings that one report replaces: of one repository, scanner, category, ref and kind of sender. Only its own next report closes them.',
  ],
  examples: ['shiplock stream list --repository acme/shop', 'shiplock stream list --status stale --json'],
  path: '/v1/security/streams',
  scope: 'read:security',
  pageMax: 100,
  filters: {
    ...REPOSITORY_FILTERS,
    status: {
      type: 'text',
      value: 'STATUS',
      about: 'only those with this status',
      choices: ['active', 'stale', 'ended'],
    },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'STATUS', text: ({ status }) => status },
    { heading: 'SENDER', text: ({ trust }) => trust },
    { heading: 'OPEN', text: ({ open }) => String(open) },
    { heading: 'SCANNER', text: ({ tool }) => tool, isFlexible: true },
    { heading: 'REPOSITORY', text: ({ repository }) => repository, isFlexible: true },
    { heading: 'REF', text: ({ git_ref }) => git_ref ?? '', isFlexible: true, isOptional: true },
    { heading: 'CATEGORY', text: ({ category }) => category ?? '', isFlexible: true, isOptional: true },
    { heading: 'REPORTED', text: ({ reported_at }) => shortTime(reported_at) },
  ],
})

export const streamEndCommand = defineCommand({
  name: 'stream end',
  summary: 'End a stream to which nobody reports any more',
  details: ['Closes its open findings. The next report to it starts it again. The reason is kept in the audit log.'],
  positionals: { value: 'ID', count: 'one' },
  options: { reason: { type: 'text', value: 'R', about: 'why nobody reports any more' }, ...SERVER_OPTIONS },
  examples: ['shiplock stream end 42 --reason "The scanner was replaced."'],
  async run({ options, positionals }, context) {
    const { reason } = options
    if (reason === undefined || reason.trim() === '') throw new UsageError('Give the reason with --reason')
    const client = connect(options, context)
    const params = { path: { id: requireStreamId(positionals[0]) } }
    const { data } = await namingScope(SCOPE, () =>
      client.api.POST('/v1/security/streams/{id}/end', { params, body: { reason } }),
    )
    context.output.print({ json: data.data, text: `The stream ${data.data.id} has ended.` })
    return EXIT.ok
  },
})

export const streamTakeOverCommand = defineCommand({
  name: 'stream take-over',
  summary: 'Let a stream take over another one of the same scanner',
  details: [
    'The findings of the stream get the decisions and the first-seen dates of the same problems of the other one, which ends. Both have the same repository, scanner, category and ref.',
  ],
  positionals: { value: 'ID', count: 'one' },
  options: { from: { type: 'text', value: 'ID', about: 'the stream that ends' }, ...SERVER_OPTIONS },
  examples: ['shiplock stream take-over 43 --from 42'],
  async run({ options, positionals }, context) {
    if (options.from === undefined) throw new UsageError('Give the stream that ends with --from')
    const body = { from: requireStreamId(options.from) }
    const client = connect(options, context)
    const params = { path: { id: requireStreamId(positionals[0]) } }
    const { data } = await namingScope(SCOPE, () =>
      client.api.POST('/v1/security/streams/{id}/take-over', { params, body }),
    )
    const text = `The stream ${data.data.id} has taken over the stream ${body.from}; ${data.data.open} findings are open.`
    context.output.print({ json: data.data, text })
    return EXIT.ok
  },
})

function requireStreamId(text: string | undefined): string {
  if (text === undefined || !STREAM_ID.test(text))
    throw new UsageError('ID must be the id of a stream, as "shiplock stream list" prints it')
  return text
}
