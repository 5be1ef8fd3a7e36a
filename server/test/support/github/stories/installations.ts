import type { Repository } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { simpleInstallation, simpleOrganization, simpleUser } from '../objects/accounts.ts'
import { wholeInstallation } from '../objects/app.ts'
import type { Installation } from '../types.ts'
import type { GitHubWorld } from '../world.ts'

/** Installs the App in an account, for all its repositories or for `selected`. */
export function install(world: GitHubWorld, login: string, selected: Repository[] | 'all'): Installation {
  const at = world.now()
  const installation: Installation = {
    id: world.newIds().id,
    account: world.organization(login),
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
  world.installations.set(installation.id, installation)
  const repositories = world.repositories.filter(installation.covers).map(repositoryName)
  sendInstallation(world, installation, 'created', { repositories, requester: null })
  return installation
}

function repositoryName(repository: Repository) {
  const { id, name } = repository
  return { id, node_id: `R_${id}`, name, full_name: fullName(repository), private: repository.private }
}

function sendInstallation(world: GitHubWorld, installation: Installation, action: string, fields: object): void {
  installation.updated_at = world.now()
  const sender = world.account('ada')
  const about = { installation: wholeInstallation(world, world.app, installation), ...fields }
  world.sendInstallation(installation, { event: 'installation', action, sender, fields: about })
}

export function suspend(world: GitHubWorld, installation: Installation, suspended: boolean): void {
  installation.suspended_at = suspended ? world.now() : null
  sendInstallation(world, installation, suspended ? 'suspend' : 'unsuspend', {})
}

export function uninstall(world: GitHubWorld, installation: Installation): void {
  sendInstallation(world, installation, 'deleted', {})
  world.installations.delete(installation.id)
}

/** Adds repositories to a selection, or removes them from it. */
export function changeSelection(
  world: GitHubWorld,
  installation: Installation,
  change: { add?: Repository[]; remove?: Repository[] },
): void {
  const { add = [], remove = [] } = change
  for (const { id } of add) installation.selected.add(id)
  for (const { id } of remove) installation.selected.delete(id)
  sendSelection(world, installation, change)
}

function sendSelection(
  world: GitHubWorld,
  installation: Installation,
  { add = [], remove = [] }: { add?: Repository[]; remove?: Repository[] },
): void {
  const action = add.length > 0 ? 'added' : 'removed'
  installation.updated_at = world.now()
  const fields = {
    installation: wholeInstallation(world, world.app, installation),
    repository_selection: installation.selection,
    repositories_added: add.map(repositoryName),
    repositories_removed: remove.map(repositoryName),
    requester: null,
  }
  const sender = world.account('ada')
  world.sendInstallation(installation, { event: 'installation_repositories', action, sender, fields })
}

/** An account gets another login; its installation stays. */
export function renameAccount(world: GitHubWorld, installation: Installation, login: string): void {
  const { account } = installation
  const from = account.login
  world.accounts.delete(from.toLowerCase())
  account.login = login
  world.accounts.set(login.toLowerCase(), account)
  const about = { account: simpleUser(world, account), target_type: account.type, changes: { login: { from } } }
  const fields = { ...about, installation: simpleInstallation(installation) }
  const sender = world.account('ada')
  world.sendInstallation(installation, { event: 'installation_target', action: 'renamed', sender, fields })
}

/** The owner of the account accepts permissions that the App asked for. */
export function acceptPermissions(world: GitHubWorld, installation: Installation): void {
  sendInstallation(world, installation, 'new_permissions_accepted', {})
}

/** A repository gets another owner, and leaves the installation of the former one. */
export function transfer(world: GitHubWorld, repository: Repository, login: string): void {
  const from = repository.owner
  repository.formerNames.push(fullName(repository))
  const left = world.installationOf(repository)
  repository.owner = world.organization(login)
  if (left !== undefined) sendSelection(world, left, { remove: [repository] })
  const earlier =
    from.type === 'person' ? { user: simpleUser(world, from) } : { organization: simpleOrganization(world, from) }
  repository.updated_at = world.now()
  const fields = { changes: { owner: { from: earlier } } }
  world.send(repository, { event: 'repository', action: 'transferred', sender: world.account('ada'), fields })
}
