import { simpleOrganization, simpleUser } from '../objects/accounts.ts'
import { fullName } from '../state.ts'
import type { Account, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'
import { emitSelection, organization } from './installations.ts'

export type NewRepository = { private?: boolean; defaultBranch?: string; id?: number }

export function createRepository(world: World, fullName: string, fields: NewRepository = {}): Repository {
  const [login, name] = fullName.split('/') as [string, string]
  const repository = emptyRepository(world, { owner: organization(world, login), name, ...fields })
  world.state.repositories.set(repository.id, repository)
  emitRepository(world, repository, 'created', {})
  return repository
}

export function emptyRepository(
  world: Pick<World, 'state'>,
  fields: NewRepository & { owner: Account; name: string },
): Repository {
  const at = world.state.clock.now()
  return {
    id: fields.id ?? world.state.newId(),
    owner: fields.owner,
    name: fields.name,
    formerNames: [],
    private: fields.private ?? true,
    archived: false,
    deleted: false,
    default_branch: fields.defaultBranch ?? 'main',
    created_at: at,
    updated_at: at,
    pushed_at: at,
    commits: new Map(),
    refs: new Map(),
    pullRequests: [],
    workflows: new Map(),
    runs: [],
    environments: new Map(),
    deployments: [],
    alerts: [],
    statuses: [],
    rules: new Map(),
    mergeQueue: [],
    activities: [],
  }
}

function emitRepository(world: World, repository: Repository, action: string, fields: object): void {
  repository.updated_at = world.now()
  world.emit(repository, { event: 'repository', action, sender: world.state.account('ada'), fields: { ...fields } })
}

export function renameRepository(world: World, repository: Repository, name: string): void {
  const from = repository.name
  repository.formerNames.push(fullName(repository))
  repository.name = name
  emitRepository(world, repository, 'renamed', { changes: { repository: { name: { from } } } })
}

export function transferRepository(world: World, repository: Repository, login: string): void {
  const from = repository.owner
  repository.formerNames.push(fullName(repository))
  const left = world.state.installationOf(repository)
  repository.owner = organization(world, login)
  if (left !== undefined) emitSelection(world, left, { remove: [repository] })
  const earlier =
    from.type === 'User' ? { user: simpleUser(world, from) } : { organization: simpleOrganization(world, from) }
  emitRepository(world, repository, 'transferred', { changes: { owner: { from: earlier } } })
}

export function deleteRepository(world: World, repository: Repository): void {
  emitRepository(world, repository, 'deleted', {})
  repository.deleted = true
}

export function archiveRepository(world: World, repository: Repository, archived: boolean): void {
  repository.archived = archived
  emitRepository(world, repository, archived ? 'archived' : 'unarchived', {})
}

export function setVisibility(world: World, repository: Repository, visibility: 'private' | 'public'): void {
  repository.private = visibility === 'private'
  const action = repository.private ? 'privatized' : 'publicized'
  emitRepository(world, repository, action, {})
}

export function setDefaultBranch(world: World, repository: Repository, branch: string): void {
  const from = repository.default_branch
  repository.default_branch = branch
  emitRepository(world, repository, 'edited', { changes: { default_branch: { from } } })
}
