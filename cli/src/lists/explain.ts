import { defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import type { components } from '@shiplock/sdk'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'

type Explanation = components['schemas']['IssueExplanation']
type Member = Explanation['members'][number]

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

export const explainCommand = defineCommand({
  name: 'explain',
  summary: 'Explain why findings are one issue',
  details: ['Prints the findings of an issue and the rule by which each belongs to it, and what was not joined.'],
  positionals: { value: 'ID', count: 'one' },
  options: SERVER_OPTIONS,
  examples: [
    'shiplock explain 0199a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b',
    'shiplock explain 0199a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b --json',
  ],
  async run({ options, positionals }, context) {
    const id = (positionals[0] as string).toLowerCase()
    if (!UUID.test(id)) throw new UsageError('ID must be the id of an issue, as "shiplock issues" prints it')
    const client = connect(options, context)
    const { data } = await namingScope('read:security', () =>
      client.api.GET('/v1/security/issues/{id}/explain', { params: { path: { id } } }),
    )
    context.output.print({ json: data.data, text: describe(data.data) })
    return EXIT.ok
  },
})

function describe(explanation: Explanation): string {
  const { issue_id, status, member_count, rejected_count, is_current, members, rejected } = explanation
  return [
    `Issue ${issue_id} is ${status}. It has ${plural(member_count, 'finding')}.`,
    ...history(explanation),
    ...(is_current ? [] : ['With the current rules, its findings would be grouped differently.']),
    '',
    ...members.map(describeMember),
    ...(rejected.length > 0 ? ['', `Not joined (${rejected_count}):`] : []),
    ...rejected.map(({ code, detail, finding_id, scanner }) => `  ${finding_id} ${scanner}: ${detail} (${code})`),
  ].join('\n')
}

function history({ split_from, merged_into }: Explanation): string[] {
  return [
    ...(split_from === null ? [] : [`It was split from the issue ${split_from}.`]),
    ...(merged_into === null ? [] : [`It was merged into the issue ${merged_into}.`]),
  ]
}

function describeMember({ finding_id, scanner, facts, reason }: Member): string {
  const line = facts.start_line === null ? '' : `:${facts.start_line}`
  const where = facts.path === null ? (facts.package_name ?? facts.resource_name ?? '') : facts.path + line
  return `${finding_id} ${scanner} ${where}\n  ${reason === null ? 'alone' : `${reason.detail} (${reason.code})`}`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
