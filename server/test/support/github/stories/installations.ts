import { simpleInstallation, simpleUser } from '../objects/accounts.ts'
import { wholeInstallation } from '../objects/app.ts'
import { fullName } from '../state.ts'
import type { Account, Installation, Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'

/** The account with this login, an organization if it is new. */
export function organization({ state }: World, login: string): Account {
  return state.accounts.get(login.toLowerCase()) ?? state.addAccount({ login, type: 'Organization' })
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
  emitSelection(world, installation, change)
}

export function emitSelection(
  world: World,
  installation: Installation,
  { add = [], remove = [] }: { add?: Repository[]; remove?: Repository[] },
): void {
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

/** An account gets another login; its installation stays. */
export function renameAccount(world: World, installation: Installation, login: string): void {
  const { account } = installation
  const from = account.login
  world.state.accounts.delete(from.toLowerCase())
  account.login = login
  world.state.accounts.set(login.toLowerCase(), account)
  const about = { account: simpleUser(world, account), target_type: account.type, changes: { login: { from } } }
  const fields = { ...about, installation: simpleInstallation(installation) }
  const sender = world.state.account('ada')
  world.emitInstallation(installation, { event: 'installation_target', action: 'renamed', sender, fields })
}

/** The owner of the account accepts permissions that the App asked for. */
export function acceptPermissions(world: World, installation: Installation): void {
  emitInstallation(world, installation, 'new_permissions_accepted', {})
}
