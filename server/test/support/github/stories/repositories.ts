import { simpleOrganization, simpleUser } from '../objects/accounts.ts'
import { wholeInstallation } from '../objects/app.ts'
import { fullName } from '../state.ts'
import type { Account, Installation, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'

export type NewRepository = { private?: boolean; defaultBranch?: string; id?: number }

export function createRepository(world: World, fullName: string, fields: NewRepository = {}): Repository {
  const [login, name] = fullName.split('/') as [string, string]
  const repository = emptyRepository(world, { owner: organization(world, login), name, ...fields })
  world.state.repositories.set(repository.id, repository)
  emitRepository(world, repository, 'created', {})
  return repository
}

/** The account with this login, an organization if it is new. */
export function organization({ state }: World, login: string): Account {
  return state.accounts.get(login.toLowerCase()) ?? state.addAccount({ login, type: 'Organization' })
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
  repository.owner = organization(world, login)
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

/** Installs the App in an account, for all its repositories or for `selected`. */
export function install(world: World, login: string, selected: Repository[] | 'all'): Installation {
  const { state } = world
  const at = world.now()
  const installation: Installation = {
    id: state.newId(),
    account: organization(world, login),
    selection: selected === 'all' ? 'all' : 'selected',
    selected: new Set(selected === 'all' ? [] : selected.map(({ id }) => id)),
    suspended_at: null,
    created_at: at,
    updated_at: at,
    covers: (repository) =>
      !repository.deleted &&
      repository.owner === installation.account &&
      (installation.selection === 'all' || installation.selected.has(repository.id)),
  }
  state.installations.set(installation.id, installation)
  const repositories = [...state.repositories.values()].filter(installation.covers).map(repositoryName)
  emitInstallation(world, installation, 'created', { repositories, requester: null })
  return installation
}

function repositoryName(repository: Repository) {
  const { id, name } = repository
  return { id, node_id: `R_${id}`, name, full_name: fullName(repository), private: repository.private }
}

function emitInstallation(world: World, installation: Installation, action: string, fields: object): void {
  installation.updated_at = world.now()
  const sender = world.state.account('ada')
  const about = { installation: wholeInstallation(world, world.state.app, installation), ...fields }
  world.emitInstallation(installation, { event: 'installation', action, sender, fields: about })
}

export function suspend(world: World, installation: Installation, suspended: boolean): void {
  installation.suspended_at = suspended ? world.now() : null
  emitInstallation(world, installation, suspended ? 'suspend' : 'unsuspend', {})
}

export function uninstall(world: World, installation: Installation): void {
  emitInstallation(world, installation, 'deleted', {})
  world.state.installations.delete(installation.id)
}

/** Adds repositories to a selection, or removes them from it. */
export function changeSelection(
  world: World,
  installation: Installation,
  change: { add?: Repository[]; remove?: Repository[] },
): void {
  const { add = [], remove = [] } = change
  for (const { id } of add) installation.selected.add(id)
  for (const { id } of remove) installation.selected.delete(id)
  const action = add.length > 0 ? 'added' : 'removed'
  installation.updated_at = world.now()
  const fields = {
    installation: wholeInstallation(world, world.state.app, installation),
    repository_selection: installation.selection,
    repositories_added: add.map(repositoryName),
    repositories_removed: remove.map(repositoryName),
    requester: null,
  }
  const sender = world.state.account('ada')
  world.emitInstallation(installation, { event: 'installation_repositories', action, sender, fields })
}
