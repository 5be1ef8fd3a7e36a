import { defineCommand } from '@shiplock/command-line/command'
import type { components } from '@shiplock/sdk'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { type Column, renderTable } from './table.ts'

type Exposure = components['schemas']['Exposure']

export const exposureCommand = defineCommand({
  name: 'exposure',
  summary: 'Find where a vulnerability runs',
  details: [
    'Prints the deployments that run and are affected, and those about which it is not known and why. It is computed from the bills of materials and the advisories that the server has now.',
    'Exits with 3 if a deployment that runs is affected, with 4 if none is and about some it is not known, and with 0 if none is affected.',
  ],
  positionals: { value: 'ID', count: 'one' },
  options: {
    all: { type: 'flag', value: '', about: 'also count components that documents state to be excluded from what runs' },
    ...SERVER_OPTIONS,
  },
  examples: ['shiplock exposure CVE-2021-44228', 'shiplock exposure GHSA-jfh8-c2jp-5v3q --json'],
  async run({ options, positionals }, context) {
    const client = connect(options, context)
    const path = { vulnerability: (positionals[0] as string).trim() }
    const scope = options.all ? 'all' : 'runtime'
    const read = async (cursor: string | null) => {
      const query = { scope, ...(cursor !== null && { cursor }) } as const
      const request = { params: { path, query } }
      const { data } = await namingScope('read:security', () => client.api.GET('/v1/exposure/{vulnerability}', request))
      return data.data
    }
    const answer = await read(null)
    for (let cursor = answer.next_cursor; cursor !== null; ) {
      const page = await read(cursor)
      answer.affected.push(...page.affected)
      answer.affected_not_live.push(...page.affected_not_live)
      answer.unknown.push(...page.unknown)
      cursor = page.next_cursor
    }
    const json = { ...answer, next_cursor: null, complete: true }
    context.output.print({ json, text: describe(json, context.output.columns) })
    if (answer.counts.affected > 0) return EXIT.affected
    return answer.counts.unknown > 0 ? EXIT.unknown : EXIT.ok
  },
})

const AFFECTED: readonly Column<Exposure['affected'][number]>[] = [
  { heading: 'REPOSITORY', text: ({ repository }) => repository },
  { heading: 'ENVIRONMENT', text: ({ environment }) => environment },
  { heading: 'EXPOSURE', text: ({ exposure }) => exposure, isOptional: true },
  { heading: 'COMPONENT', text: ({ component: { purl, name } }) => purl ?? name, isFlexible: true },
  { heading: 'FIXED IN', text: ({ fixed_version }) => fixed_version },
  { heading: 'EVIDENCE', text: ({ evidence }) => evidence, isOptional: true },
  { heading: 'STATUS', text: ({ status }) => status, isOptional: true },
  { heading: 'DEPLOYMENT', text: ({ deployment_id }) => deployment_id, isOptional: true },
]

const UNKNOWN: readonly Column<Exposure['unknown'][number]>[] = [
  { heading: 'REPOSITORY', text: ({ repository }) => repository },
  { heading: 'ENVIRONMENT', text: ({ environment }) => environment },
  { heading: 'UNKNOWN BECAUSE', text: ({ reason }) => reason },
  { heading: 'DEPLOYMENT', text: ({ deployment_id }) => deployment_id, isOptional: true },
]

function describe(answer: Exposure, width: number | null): string {
  const { counts, vulnerability, coverage, affected, unknown } = answer
  const style = { width, hasColours: false }
  return [
    `${vulnerability.canonical_id}: of ${counts.live_deployments} deployments that run, ${counts.affected} are affected, ` +
      `${counts.not_affected} are not, and about ${counts.unknown} it is not known.`,
    ...(coverage === 'scanners_only'
      ? ['No advisory names packages: what scanners reported is all that is known.']
      : []),
    ...(affected.length > 0 ? ['', renderTable(AFFECTED, affected, style)] : []),
    ...(unknown.length > 0 ? ['', renderTable(UNKNOWN, unknown, style)] : []),
    ...(counts.affected_not_live > 0
      ? ['', `Affected and not running: ${counts.affected_not_live}. --json prints them.`]
      : []),
  ].join('\n')
}
