import { requireChoice } from '@shiplock/command-line/options'
import { getCodeHost, PROVIDERS } from '../codehosts/catalogue.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { linkRepository } from '../repositories/link-repository.ts'
import { type ListedRepository, listRepositories } from '../repositories/repository.store.ts'
import { defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

const UUID_HOSTS = PROVIDERS.filter((provider) => getCodeHost(provider).repositoryId.form !== 'a number')
  .map((provider) => getCodeHost(provider).name)
  .join(' and ')

export const repoLink = defineCommand({
  name: 'repo link',
  about: 'Links a repository of a code host that is not connected. If its id is already linked, updates its name.',
  arguments: [],
  options: {
    org: ORG,
    provider: { type: 'text', value: PROVIDERS.join('|'), about: 'the code host', required: true },
    id: {
      type: 'text',
      value: 'ID',
      about: `the code host's id of the repository: a number, or a UUID on ${UUID_HOSTS}`,
      required: true,
    },
    name: { type: 'text', value: 'owner/name', about: 'the full name of the repository', required: true },
    host: { type: 'text', value: 'H', about: 'the host name, if the code host is self-hosted' },
    'tracked-branch': { type: 'text', value: 'main', about: 'the branch whose findings open issues (default: main)' },
  },
  async run(context, _given, { org, provider, id, name, host, 'tracked-branch': trackedBranch }) {
    const known = requireChoice('provider', provider, PROVIDERS)
    const repository = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      return linkRepository(services, organization.id, { provider: known, id, name, host, trackedBranch })
    })
    const json = { provider: repository.provider, id: repository.id, full_name: repository.full_name }
    context.print({ json, text: `Linked ${json.full_name} (${json.provider} ${json.id})` })
  },
})

export const repoList = defineCommand({
  name: 'repo list',
  about: "Lists an organization's linked and connected repositories.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const repositories = await withServices(context, async ({ sql }) =>
      listRepositories(sql, (await requireOrganization(sql, org)).id),
    )
    const rows = repositories.map((row) => [
      row.full_name,
      row.provider,
      row.id,
      row.host,
      row.tracked_branch,
      describeState(row),
    ])
    const heading = ['NAME', 'PROVIDER', 'ID', 'HOST', 'TRACKED BRANCH', 'STATE']
    context.print({
      json: repositories,
      text: formatTable(heading, rows, `The organization ${org} has no repositories.`),
    })
  },
})

function describeState({ connected, archived, deleted_at }: ListedRepository): string {
  if (deleted_at !== null) return 'deleted'
  const state = connected ? 'connected' : archived === null ? 'linked' : 'disconnected'
  return archived ? `${state}, archived` : state
}
