import { type Static, Type } from 'typebox'
import type { HostRepository } from '../../../host-repository.ts'
import { Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'
import { Guid, Time, timeOrNull } from './fields.ts'

const Repository = Type.Object({
  id: Guid,
  name: Text,
  project: Type.Object({
    id: Guid,
    name: Text,
    state: Maybe(Text),
    visibility: Maybe(Text),
    lastUpdateTime: Maybe(Time),
  }),
  defaultBranch: Maybe(Text),
  isDisabled: Maybe(Type.Boolean()),
  webUrl: Maybe(Text),
})

/** The organization that the connection is for. */
export type OrganizationName = { host: string; id: string; name: string }

/** The default of Azure Repos, for repositories without a first commit. */
const DEFAULT_BRANCH = 'main'

export function parseRepository(value: unknown, organization: OrganizationName): HostRepository {
  const repository = readAs(Repository, value)
  const { project } = repository
  return {
    provider: 'azure',
    host: organization.host,
    id: repository.id.toLowerCase(),
    full_name: `${organization.name}/${project.name}/_git/${repository.name}`,
    owner_id: organization.id,
    default_branch: branchOf(repository.defaultBranch) ?? DEFAULT_BRANCH,
    html_url: textOrNull(repository.webUrl),
    // The rights of a repository are those of its project.
    private: project.visibility !== 'public',
    archived: isArchived(repository),
    // Only the project has a time, but a rename of the project is what changes most names.
    updated_at: timeOrNull(project.lastUpdateTime),
  }
}

/** Disabled repositories exist, but nobody can read their code. */
function isArchived({ isDisabled, project }: Static<typeof Repository>): boolean {
  return isDisabled === true || project.state === 'deleting'
}

/** The name of a branch in `refs/heads/…`; null for other refs. */
export function branchOf(ref: string | null | undefined): string | null {
  return /^refs\/heads\/(.+)$/s.exec(ref ?? '')?.[1] ?? null
}
