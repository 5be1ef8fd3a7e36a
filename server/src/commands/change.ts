import { requireChoice, UsageError } from '@shiplock/command-line/options'
import type { Static } from 'typebox'
import { PROVIDERS } from '../codehosts/catalogue.ts'
import { requireOrganization } from '../organizations/organization.ts'
import type { ListedChange } from '../provenance/changes/change.schema.ts'
import { listChanges } from '../provenance/changes/change-list.store.ts'
import { DEVIATIONS } from '../provenance/changes/change-record.ts'
import { findChangedRepositories } from '../provenance/changes/require-change.ts'
import { defineCommand, formatTable, requireLimit } from './command.ts'
import { withServices } from './with-services.ts'

const LIMIT = 50
const LIMIT_MAX = 1000
const FULL_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export const changeList = defineCommand({
  name: 'change list',
  about: "Lists an organization's newest changes, as GET /v1/changes does.",
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    repository: { type: 'text', value: 'owner/name', about: 'only changes of this repository' },
    provider: { type: 'text', value: 'P', about: `the code host of the repository: ${PROVIDERS.join(', ')}` },
    branch: { type: 'text', value: 'B', about: 'only changes of this branch' },
    commit: { type: 'text', value: 'SHA', about: 'only changes that contain this commit; the full SHA' },
    deviation: { type: 'text', value: 'D', about: `only changes with this deviation: ${DEVIATIONS.join(', ')}` },
    limit: { type: 'text', value: 'N', about: `how many to list, at most ${LIMIT_MAX} (default: ${LIMIT})` },
  },
  async run(context, _given, { org, repository, branch, commit, ...options }) {
    const provider = options.provider === undefined ? undefined : requireChoice('provider', options.provider, PROVIDERS)
    const deviation = options.deviation === undefined ? null : requireChoice('deviation', options.deviation, DEVIATIONS)
    if (commit !== undefined && !FULL_SHA.test(commit))
      throw new UsageError(`--commit must be a full SHA, not "${commit}"`)
    const limit = requireLimit(options.limit ?? `${LIMIT}`, LIMIT_MAX)
    const changes = await withServices(context, async (services) => {
      const { id } = await requireOrganization(services.sql, org)
      const repositories = await findChangedRepositories(services, id, { repository, provider })
      const page = { since: new Date(0), until: services.clock.now(), retentionClamped: false, limit, after: null }
      const selection = { repositories, branch: branch ?? null, deviation, commit: commit ?? null }
      const rows = await listChanges(services.sql, id, { ...page, asked: [null, null] }, selection)
      return rows.slice(0, limit).map(({ json }) => JSON.parse(json) as Static<typeof ListedChange>)
    })
    const heading = ['LANDED', 'REPOSITORY', 'BRANCH', 'CHANGE', 'COMMIT', 'BY', 'DEVIATIONS']
    context.print({
      json: changes,
      text: formatTable(heading, changes.map(toRow), `The organization ${org} has no changes.`),
    })
  },
})

function toRow({
  landed_at,
  repository,
  branch,
  id,
  commits,
  pull_request,
  pusher,
  deviations,
}: Static<typeof ListedChange>) {
  const by = pull_request === null ? `push by ${pusher?.login ?? 'an unknown account'}` : `#${pull_request.number}`
  return [landed_at, repository.full_name, branch, id, commits.merge.slice(0, 12), by, deviations.join(', ') || 'none']
}
