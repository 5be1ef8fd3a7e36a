import { createHash, randomUUID } from 'node:crypto'
import type { Account, Alert, Deployment, Environment, Project, Repository, Run } from '../hosts/types.ts'
import { World } from '../hosts/world.ts'
import { Credentials } from './credentials.ts'

/**
 * The environments with one name in the repositories of a project, which are one in Azure DevOps.
 */
export type ProjectEnvironment = {
  id: number
  name: string
  of: { repository: Repository; environment: Environment }[]
}

/** A check that asks our program and waits for an answer. */
export type WaitingCheck = {
  plan: string
  /** The token of its job. */
  token: string
  run: Run
  deployment: Deployment
  /** The number of the log that was made last. */
  log: number | null
}

/** What checks call, and with which credentials. */
export type ServiceConnection = {
  id: string
  project: Project
  username: string
  password: string
  shown: ShownConnection
}
type ShownConnection = { name: string; type: string; url: string; description: string }

/** What only Azure DevOps has, beside the world of all hosts. */
export class AzureState {
  readonly world = new World()
  readonly credentials = new Credentials()
  readonly checks: WaitingCheck[] = []
  /** The texts of logs of checks, by plan and number. */
  readonly logs = new Map<string, { id: number; lines: string[] }>()
  /** Organizations without Advanced Security refuse to list alerts. */
  readonly withoutSecurity = new Set<Account>()
  /** Secrets of the confidence `other`. */
  readonly unsure = new Set<Alert>()
  /** The names that organizations had before. */
  readonly formerNames = new Set<string>()
  url = ''
  /** The service connections that our program made. */
  readonly serviceConnections: ServiceConnection[] = []

  rename(organization: Account, name: string): void {
    this.formerNames.add(organization.login)
    this.world.accounts.delete(organization.login.toLowerCase())
    organization.login = name
    this.world.accounts.set(name.toLowerCase(), organization)
  }

  projectsOf(organization: Account): Project[] {
    return this.world.projects.filter(({ owner }) => owner === organization)
  }

  repositoriesOf(project: Project): Repository[] {
    return this.world.repositories.filter((one) => one.project === project && !one.deleted)
  }

  environmentsOf(project: Project): ProjectEnvironment[] {
    const all = this.world.repositories
      .filter((repository) => repository.project === project)
      .flatMap((repository) =>
        [...repository.environments.values()].map((environment) => ({ repository, environment })),
      )
    return [...Map.groupBy(all, ({ environment }) => environment.name.toLowerCase()).values()].map((of) => {
      const { id, name } = (of[0] as (typeof of)[0]).environment
      return { id, name, of }
    })
  }

  connectionOf(project: Project): ServiceConnection | undefined {
    return this.serviceConnections.find((one) => one.project === project)
  }

  /** The web address of a project. Names are encoded. */
  webUrl(project: Project): string {
    return `${this.url}/${encodeURIComponent(project.owner.login)}/${encodeURIComponent(project.name)}`
  }
}

/** A GUID that follows from names, as those of records in timelines do. */
export function guidOf(...names: (string | number)[]): string {
  const hex = createHash('sha1').update(names.join('\n')).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

export function newToken(): string {
  return `job${randomUUID().replaceAll('-', '')}`
}
