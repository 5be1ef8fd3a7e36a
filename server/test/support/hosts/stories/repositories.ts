import type { Change } from '../change.ts'
import type { Account, Project, Repository } from '../types.ts'
import { fullName, type World } from '../world.ts'

export type NewRepository = { private?: boolean; defaultBranch?: string; project?: string }

/** A repository by its whole name. Owner and project are created if they are new. */
export function addRepository(world: World, whole: string, fields: NewRepository = {}): Repository {
  const repository = emptyRepository(world, whole, fields)
  world.repositories.push(repository)
  emitRepository(world, repository, 'created')
  return repository
}

function projectOf(world: World, owner: Account, name: string): Project {
  const known = world.projects.find((project) => project.owner === owner && project.name === name)
  if (known !== undefined) return known
  const project = { ...world.newIds(), owner, name, created_at: world.now() }
  world.projects.push(project)
  return project
}

export function emptyRepository(world: World, whole: string, fields: NewRepository = {}): Repository {
  const parts = whole.split('/')
  const owner = world.organization(parts[0] as string)
  const path = parts.slice(1, -1).join('/')
  const at = world.now()
  return {
    ...world.newIds(),
    owner,
    path,
    project: projectOf(world, owner, fields.project ?? (path === '' ? `${owner.login} products` : path)),
    name: parts.at(-1) as string,
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
    pushes: [],
    pullRequests: [],
    workflows: new Map(),
    runs: [],
    environments: new Map(),
    deployments: [],
    alerts: [],
    statuses: [],
    comments: [],
    rules: new Map(),
    mergeQueue: [],
  }
}

function emitRepository(
  world: World,
  repository: Repository,
  action: Extract<Change, { type: 'repository' }>['action'],
  from?: string,
): void {
  repository.updated_at = world.now()
  world.emit({ type: 'repository', action, repository, by: world.account('ada'), ...(from !== undefined && { from }) })
}

export function rename(world: World, repository: Repository, name: string): void {
  repository.formerNames.push(fullName(repository))
  const from = repository.name
  repository.name = name
  emitRepository(world, repository, 'renamed', from)
}

/** The change is told while the repository can still be described. */
export function deleteRepository(world: World, repository: Repository): void {
  emitRepository(world, repository, 'deleted')
  repository.deleted = true
}

export function archive(world: World, repository: Repository, archived: boolean): void {
  repository.archived = archived
  emitRepository(world, repository, archived ? 'archived' : 'unarchived')
}

export function setVisibility(world: World, repository: Repository, visibility: 'private' | 'public'): void {
  repository.private = visibility === 'private'
  emitRepository(world, repository, 'visibility')
}

export function setDefaultBranch(world: World, repository: Repository, branch: string): void {
  const from = repository.default_branch
  repository.default_branch = branch
  emitRepository(world, repository, 'default_branch', from)
}
