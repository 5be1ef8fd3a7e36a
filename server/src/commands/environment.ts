import { UsageError } from '@shiplock/command-line/options'
import { OPERATOR } from '../audit/audit.store.ts'
import {
  applyEnvironmentFacts,
  deleteEnvironment,
  updateEnvironmentPosition,
} from '../deployments/environments/configure-environment.ts'
import { ENVIRONMENT_ENTRIES_MAX, EXPOSURES } from '../deployments/environments/environment.schema.ts'
import { listEnvironmentEntries } from '../deployments/environments/environment.store.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const environmentSet = defineCommand({
  name: 'environment set',
  about:
    'States facts about environments. The first entry that matches an environment counts; a new one is the last. In a ' +
    'GLOB, * does not match a slash.',
  arguments: [],
  options: {
    org: ORG,
    environment: { type: 'text', value: 'GLOB', about: 'the environments that it is about', required: true },
    repository: {
      type: 'text',
      value: 'GLOB',
      about: 'the repositories that it is about: owner/name or host/owner/name (default: all)',
    },
    exposure: { type: 'text', value: EXPOSURES.join('|'), about: 'who can reach what runs there' },
    criticality: { type: 'text', value: '1..5', about: 'how much depends on it; 5 is the most' },
    production: {
      type: 'text',
      value: 'true|false',
      about: 'whether it is production (default: as its name says)',
    },
  },
  async run(context, _given, { org, environment, repository = null, ...options }) {
    const facts = {
      ...(options.exposure !== undefined && { exposure: readChoice('exposure', EXPOSURES, options.exposure) }),
      ...(options.criticality !== undefined && {
        criticality: Number(readChoice('criticality', ['1', '2', '3', '4', '5'], options.criticality)),
      }),
      ...(options.production !== undefined && {
        production: readChoice('production', ['true', 'false'], options.production) === 'true',
      }),
    }
    const entry = await withServices(context, async (services) => {
      const { id } = await requireOrganization(services.sql, org)
      return applyEnvironmentFacts(services, id, OPERATOR, { environment, repository, ...facts })
    })
    context.print({ json: entry, text: `Stored entry ${entry.position} of environments (${entry.id})` })
  },
})

export const environmentList = defineCommand({
  name: 'environment list',
  about: 'Lists what is stated about environments. The first entry that matches counts.',
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const entries = await withServices(context, async ({ sql }) =>
      listEnvironmentEntries(sql, (await requireOrganization(sql, org)).id),
    )
    const heading = ['POSITION', 'ID', 'ENVIRONMENT', 'REPOSITORY', 'EXPOSURE', 'CRITICALITY', 'PRODUCTION']
    const rows = entries.map((entry) => [
      ...[`${entry.position}`, entry.id, entry.environment, entry.repository ?? '-', entry.exposure ?? 'unknown'],
      ...[`${entry.criticality ?? '-'}`, `${entry.production ?? 'by name'}`],
    ])
    const text = formatTable(heading, rows, `Nothing is stated about environments of ${org}.`)
    context.print({ json: entries, text })
  },
})

export const environmentMove = defineCommand({
  name: 'environment move',
  about: 'Moves an entry to another position. The first entry that matches an environment counts.',
  arguments: ['id'],
  options: { org: ORG, to: { type: 'text', value: 'N', about: 'the new position, from 1', required: true } },
  async run(context, { id }, { org, to }) {
    const position = Number(to)
    if (!/^\d{1,3}$/.test(to) || position < 1 || position > ENVIRONMENT_ENTRIES_MAX)
      throw new UsageError(`--to must be an integer from 1 to ${ENVIRONMENT_ENTRIES_MAX}, not "${to}"`)
    const entry = await withServices(context, async (services) => {
      const { id: org_id } = await requireOrganization(services.sql, org)
      return updateEnvironmentPosition(services, { org_id, id, position }, OPERATOR)
    })
    context.print({ json: entry, text: `Moved "${entry.environment}" to position ${entry.position} (${entry.id})` })
  },
})

export const environmentDelete = defineCommand({
  name: 'environment delete',
  about: 'Deletes what an entry states about environments.',
  arguments: ['id'],
  options: { org: ORG },
  async run(context, { id }, { org }) {
    const entry = await withServices(context, async (services) => {
      const { id: org_id } = await requireOrganization(services.sql, org)
      return deleteEnvironment(services, { org_id, id }, OPERATOR)
    })
    context.print({ json: entry, text: `Deleted the entry of "${entry.environment}" (${entry.id})` })
  },
})

function readChoice<const Choice extends string>(option: string, choices: readonly Choice[], text: string): Choice {
  const choice = choices.find((one) => one === text)
  if (choice === undefined) throw new UsageError(`--${option} must be one of ${choices.join(', ')}, not "${text}"`)
  return choice
}
